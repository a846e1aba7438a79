"use strict";
// HMAC-SHA-256 of a text, for pages opened from a file, where browsers may offer no crypto.subtle.
(() => {
  const primes = [];
  for (let n = 2; primes.length < 64; n += 1) {
    if (primes.every((prime) => n % prime)) primes.push(n);
  }
  const fraction = (x) => ((x - Math.floor(x)) * 2 ** 32) | 0;
  const START = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
  const ROUND = primes.map((prime) => fraction(Math.cbrt(prime)));
  const turn = (x, n) => (x >>> n) | (x << (32 - n));

  const sha256 = (bytes) => {
    const length = bytes.length;
    const padded = new Uint8Array((((length + 8) >> 6) + 1) * 64);
    padded.set(bytes);
    padded[length] = 0x80;
    const view = new DataView(padded.buffer);
    view.setUint32(padded.length - 8, Math.floor((length * 8) / 2 ** 32));
    view.setUint32(padded.length - 4, (length * 8) >>> 0);
    const hash = Int32Array.from(START);
    const w = new Int32Array(64);
    for (let block = 0; block < padded.length; block += 64) {
      for (let t = 0; t < 16; t += 1) w[t] = view.getInt32(block + 4 * t);
      for (let t = 16; t < 64; t += 1) {
        const [x, y] = [w[t - 15], w[t - 2]];
        const low = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
        const high = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
        w[t] = (w[t - 16] + low + w[t - 7] + high) | 0;
      }
      let [a, b, c, d, e, f, g, h] = hash;
      for (let t = 0; t < 64; t += 1) {
        const one = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
        const first = (h + one + ((e & f) ^ (~e & g)) + ROUND[t] + w[t]) | 0;
        const two = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
        const second = (two + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((x, n) => (hash[n] = (hash[n] + x) | 0));
    }
    const out = new DataView(new ArrayBuffer(32));
    hash.forEach((word, n) => out.setInt32(4 * n, word));
    return new Uint8Array(out.buffer);
  };

  const joined = (a, b) => {
    const both = new Uint8Array(a.length + b.length);
    both.set(a);
    both.set(b, a.length);
    return both;
  };

  window.evalAssetsSeal = (key, text) => {
    const bytes = new TextEncoder();
    const pad = new Uint8Array(64);
    pad.set(bytes.encode(key)); // keys are shorter than a block
    const inner = sha256(joined(pad.map((b) => b ^ 0x36), bytes.encode(text)));
    const outer = sha256(joined(pad.map((b) => b ^ 0x5c), inner));
    return [...outer].map((b) => b.toString(16).padStart(2, "0")).join("");
  };
})();
