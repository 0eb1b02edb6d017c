"""Fine-tuning: a DATASET and a model in, an ADAPTER out.

presets    what is set, each key with its source; YAML
examples   items as tokens: the prompt predict will ask, the answer, which tokens are learnt
order      which items make a step, epoch by epoch
tree       items of a batch laid out so that what they share is computed once
batches    the layout as tensors
lora       the base model, its quantization, the adapter on it
trainer    TRL's trainer with the head on learnt positions only and weights for classes
watch      progress, loss log, checkpoints, interruption
language   language models: from items to a proven adapter
encoder    two-class encoders
train      from folder to folder
merge      an adapter merged into its model, and what that changed

Nothing here imports torch before a model is opened.
"""
