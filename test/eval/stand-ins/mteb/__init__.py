"""Stands in for mteb 2.26.24: what eval/adapters/lmeb.py uses of it, with one small task in place of LMEB's."""

from types import SimpleNamespace

CORPUS = [
    {"id": "d1", "title": "Ana", "text": "She is allergic to peanuts."},
    {"id": "d2", "title": "", "text": "Ben plays the cello on Sundays."},
    {"id": "d3", "text": ""},
    {"id": "d4", "text": [{"role": "user", "content": "Cleo moved to Lisbon."}]},
    *({"id": f"filler-{i}", "text": f"Invoice number {i} was paid."} for i in range(300)),
    {"id": "long", "text": "é" * 40_000},
]
QUERIES = [
    {"id": "q1", "text": "Which foods are bad for Ana?", "instruction": "Find the passage"},
    {"id": "q2", "text": [{"role": "user", "content": "Where does Cleo live?"}]},
]
RELEVANT = {"q1": "d1", "q2": "d4"}


def get_benchmark(name):
    assert name == "LMEB"
    return SimpleNamespace(tasks=["LoCoMo"])


def get_tasks(*, tasks):
    return tasks


def evaluate(model, tasks):
    """Asks as RetrievalEvaluator does: every argument by its name."""
    return SimpleNamespace(task_results=[_evaluate(model, task) for task in tasks])


def _evaluate(model, task):
    assert model.mteb_model_meta.fields["name"].startswith("recalld/")
    place = {"task_metadata": None, "hf_split": "test", "hf_subset": "default", "encode_kwargs": {}}
    model.index(corpus=CORPUS, **place, num_proc=None)
    found = model.search(queries=QUERIES, top_k=1000, top_ranked=None, **place, num_proc=None)
    assert all(len(scores) == 200 for scores in found.values()), "as many as the server allows"
    right = [max(scores, key=scores.get) == RELEVANT[query] for query, scores in found.items()]
    return SimpleNamespace(task_name=task, get_score=lambda: sum(right) / len(right))
