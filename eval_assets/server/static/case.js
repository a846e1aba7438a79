// A key of a value chooses it while the focus is on the choices; Enter then sends the form.
for (const fieldset of document.querySelectorAll("fieldset")) {
  fieldset.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const choice = fieldset.querySelector(`[data-key="${CSS.escape(event.key.toLowerCase())}"]`);
    if (!choice) return;
    choice.checked = true;
    choice.focus();
  });
}
if (matchMedia("(hover: hover)").matches) document.querySelector("fieldset input")?.focus();
