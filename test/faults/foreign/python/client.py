"""Calls recalld with grpcio on one channel: `client.py HOST:PORT KEY`. Ends with one line of figures."""

import random
import sys

import grpc
from google.protobuf.json_format import MessageToDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from recalld.v1 import memory_pb2, memory_pb2_grpc

TEXT = "The cat sleeps on the radiator."
TOO_LARGE_STORES = 120
TOO_LARGE = "x" * 1_100_000
REFUSAL = "the body is larger than"
RETRIES = 60
# A timer of 32 bits of milliseconds ends at 24.8 days.
FAR_S = 60 * 24 * 3600
SERVICES = {"recalld.v1.MemoryService", "recalld.v1.AccountService", "grpc.health.v1.Health"}


class Client:
    """Counts its calls, and gives each the key and a deadline."""

    def __init__(self, channel, key):
        self.memory = memory_pb2_grpc.MemoryServiceStub(channel)
        self.health = health_pb2_grpc.HealthStub(channel)
        self.metadata = [("authorization", f"Bearer {key}")]
        self.calls = 0

    def call(self, rpc, request, header=(), timeout=30):
        self.calls += 1
        return rpc(request, timeout=timeout, metadata=[*self.metadata, *header])

    def refused(self, code, says, rpc, request):
        """In the server's words: a broken stream is RESOURCE_EXHAUSTED to grpcio as well."""
        try:
            answer = self.call(rpc, request)
        except grpc.RpcError as error:
            told = f"{error.code()} {error.details()}"
            expect(error.code() == code and says in told, f"{told}, where {code} was expected, with {says}")
        else:
            raise AssertionError(f"answered {answer}, where {code} was expected")

    def store(self, namespace, given, header=()):
        request = memory_pb2.StoreRequest(text=TEXT, namespace=namespace, metadata=given)
        return self.call(self.memory.Store, request, header)

    def recall(self, namespace, timeout=30):
        request = memory_pb2.RecallRequest(query=TEXT, namespace=namespace)
        return self.call(self.memory.Recall, request, timeout=timeout)


def expect(holds, message):
    if not holds:
        raise AssertionError(message)


def lives(client):
    """Store, recall, get, list, delete, namespaces."""
    memory, given = client.memory, {"a": 1.5, "b": {"c": [True, None, "é"]}}
    stored = client.store("py", struct_of(given))
    found = client.recall("py").results
    expect([(each.id, each.text) for each in found] == [(stored.id, TEXT)], f"recalled {found}")
    one = memory_pb2.GetMemoryRequest(namespace="py", id=stored.id)
    got = client.call(memory.GetMemory, one).memory
    expect(MessageToDict(got.metadata) == given, f"metadata came back as {got.metadata}")
    listed = client.call(memory.ListMemories, memory_pb2.ListMemoriesRequest(namespace="py")).memories
    expect([each.id for each in listed] == [stored.id], f"listed {listed}")
    names = client.call(memory.ListNamespaces, memory_pb2.ListNamespacesRequest())
    expect("py" in [each.namespace for each in names.namespaces], f"py is not among {names}")
    client.call(memory.DeleteMemory, memory_pb2.DeleteMemoryRequest(namespace="py", id=stored.id))
    client.refused(grpc.StatusCode.NOT_FOUND, "no memory with this id", memory.GetMemory, one)
    client.call(memory.DeleteNamespace, memory_pb2.DeleteNamespaceRequest(namespace="py"))


def retried(client):
    """One Idempotency-Key, metadata in any order."""
    ids, orders, names = set(), set(), list("abcdefgh")
    for _ in range(RETRIES):
        random.shuffle(names)
        given = struct_of({name: {f"{inner}{name}": 1 for inner in random.sample("xyz", 3)} for name in names})
        orders.add(given.SerializeToString())
        header = [("idempotency-key", "from grpcio")]
        ids.add(client.store("once", given, header).id)
    expect(len(ids) == 1, f"{RETRIES} stores gave {len(ids)} ids")
    expect(len(orders) > 1, "all were written in one order")


def too_large(client):
    """Bodies that are too large, then a recall, on one channel."""
    request = memory_pb2.StoreRequest(text=TOO_LARGE, namespace="large")
    for _ in range(TOO_LARGE_STORES):
        client.refused(grpc.StatusCode.RESOURCE_EXHAUSTED, REFUSAL, client.memory.Store, request)
    client.recall("once")


def far_deadline(client):
    """A deadline of 60 days."""
    client.recall("once", timeout=FAR_S)


def healthy(client):
    """Health, once and as a server stream."""
    serving = health_pb2.HealthCheckResponse.SERVING
    request = health_pb2.HealthCheckRequest(service="recalld.v1.MemoryService")
    expect(client.call(client.health.Check, request).status == serving, "it is not serving")
    watch = client.call(client.health.Watch, request)
    expect(next(watch).status == serving, "the watch does not say that it is serving")
    watch.cancel()


def struct_of(values):
    request = memory_pb2.StoreRequest()
    request.metadata.update(values)
    return request.metadata


def reflected(channel):
    services = ProtoReflectionDescriptorDatabase(channel).get_services()
    expect(SERVICES <= set(services), f"reflection lists {services}")


def main(target, key):
    with grpc.insecure_channel(target) as channel:
        client = Client(channel, key)
        for check in (lives, retried, too_large, far_deadline, healthy):
            try:
                check(client)
            except (AssertionError, grpc.RpcError) as error:
                sys.exit(f"grpcio: {check.__doc__} {error}")
        reflected(channel)
    print(f"{client.calls + 1} calls on one channel of grpcio, each as it must be")


main(*sys.argv[1:])
