"""Models behind HTTP: one client, one retry policy, and a file for each wire format.

`wire` says what a format must give; `openai`, `azure`, `anthropic` and `bedrock` give it; `faults`
judges what servers answer instead; `pool` asks many prompts at once; `model` is the Model that
predict sees. Every byte passes `clinqa.privacy.egress`.
"""
