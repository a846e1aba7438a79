"""A provider to try and to test against: both vendors' wire formats on loopback, no keys needed.

`running` serves it from a thread; the real SDK clients talk to it:

    with running(Behaviour(latency_seconds=0.2, faults=Faults(rates=mixed_rates(0.1)))) as provider:
        client = AsyncOpenAI(base_url=provider.openai_base_url, api_key="sk-any", max_retries=0)

What belongs here: the two wire formats, what can go wrong on them, and the answers, which are made
up. It knows nothing of the rest of the package.
"""
