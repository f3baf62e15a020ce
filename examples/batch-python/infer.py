"""A batch handler: loads its model once, then answers one JSON line for each JSON line it reads.

    python infer.py            one item a line:   {"id": …, "data": {…}, "attempt": n}
    python infer.py --batch    a chunk a line:    {"items": […]}

Prints that are not answers go to standard error. Nothing here knows of queues, retries or evictions.
"""

import json
import sys


def load_model():
    # Stands for the slow part: weights from a disk or a bucket onto the GPU, once for the life of this process.
    return {"great": 2.0, "good": 1.0, "fine": 0.5, "bad": -1.0, "awful": -2.0}


def infer(model, texts):
    """Labels a batch of texts; with a real model this is one forward pass."""
    scores = [sum(model.get(word, 0.0) for word in text.lower().split()) for text in texts]
    return [{"label": "positive" if score >= 0 else "negative", "score": score} for score in scores]


def answer(model, items):
    """One answer for each item: a result, or an error of its own that does not touch the others."""
    good = [item for item in items if isinstance(item["data"].get("text"), str)]
    results = dict(zip([item["id"] for item in good], infer(model, [item["data"]["text"] for item in good])))
    for item in items:
        if item["id"] in results:
            yield {"id": item["id"], "result": results[item["id"]]}
        else:
            # No use in trying again: straight to the dead letters.
            yield {"id": item["id"], "error": "there is no text", "permanent": True}


def main():
    model = load_model()
    print("model loaded", file=sys.stderr, flush=True)
    for line in sys.stdin:
        message = json.loads(line)
        if "items" in message:
            reply = {"results": list(answer(model, message["items"]))}
        else:
            [reply] = answer(model, [message])
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
