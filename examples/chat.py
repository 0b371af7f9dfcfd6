"""A chat that remembers, by the Python client: python examples/chat.py"""

import os
import sys

from model import reply
from recalld import Recalld

url = os.environ.get("RECALLD_URL", "http://127.0.0.1:8080")
namespace = os.environ.get("CHAT_USER", "ana")

with Recalld(api_key=os.environ["RECALLD_API_KEY"], base_url=url) as recalld:
    for line in sys.stdin:
        said = line.strip()
        # Words count beside meaning, and what does not fit the question is left out.
        answer = recalld.recall(namespace=namespace, query=said, mode="HYBRID", min_fit=0.4)
        say, remember = reply(said, [result.text for result in answer.results])
        if remember is not None:
            recalld.store(namespace=namespace, text=remember)
        print(say, flush=True)
