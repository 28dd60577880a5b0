"""The models of `rafs truthful`: one that answers and reads, one that judges."""

from contextlib import AsyncExitStack

from rafs.engines.likelihood import Likelihood
from rafs.engines.loading import load_model, onto_device
from rafs.engines.model_editor import Instructed
from rafs.engines.prompt_tokens import load_tokenizer
from rafs.engines.question_prompt import MAX_NEW_TOKENS, STOP
from rafs.engines.server_likelihood import ServerLikelihood
from rafs.engines.transformers_generator import TransformersGenerator
from rafs.engines.transformers_likelihood import TransformersLikelihood
from rafs.model_entry import ModelEntry, SamplingEntry
from rafs.registry import Registry
from service.one_model import order_of
from service.settings import Settings
from service.stock import Order, build_generator, build_prober
from service.truthful_run import Asked
from verifiers.truth_judge import TruthJudge


def load_models(
    model: ModelEntry, judge: ModelEntry, registry: Registry, settings: Settings, closing: AsyncExitStack
) -> Asked:
    """Load both models; blocking.

    Raises:
        ConfigError: Weights are missing.
        BackendError: A model cannot be loaded.
    """
    greedy = SamplingEntry(temperature=0, max_new_tokens=MAX_NEW_TOKENS, stop=STOP)
    own = order_of(model.model_copy(update={"sampling": greedy}), registry, settings, closing)
    writer, reader = _answering(own)
    order = order_of(judge, registry, settings, closing)
    return Asked(writer=writer, reader=reader, judge=TruthJudge(build_prober(order), fence_key=order.fence_key))


def _answering(order: Order) -> tuple[Instructed, Likelihood | None]:
    """Return the model as one that writes, and as one that reads; in this process from the same weights."""
    if order.is_served:
        return build_generator(order), ServerLikelihood(order.connect(), order.identity)
    if order.is_on_vllm:
        return build_generator(order), None
    network = onto_device(load_model(order.folder, "AutoModelForCausalLM", threads=order.threads))
    tokenizer = load_tokenizer(order.folder)
    dtype = order.entry.dtype or "float32"
    writer = TransformersGenerator(
        network,
        tokenizer,
        order.identity,
        dtype=dtype,
        temperature=0,
        max_new_tokens=MAX_NEW_TOKENS,
        stop=STOP,
    )
    return order.keep(writer), order.keep(TransformersLikelihood(network, tokenizer, order.identity))
