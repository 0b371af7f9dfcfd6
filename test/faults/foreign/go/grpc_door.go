package main

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "recalld/foreign/gen/recalld/v1"
)

type grpcDoor struct {
	key    string
	memory pb.MemoryServiceClient
	health grpc_health_v1.HealthClient
}

func (door *grpcDoor) name() string { return "grpc-go" }

func (door *grpcDoor) with(ctx context.Context, header header) context.Context {
	sent := metadata.New(header)
	sent.Set("authorization", "Bearer "+door.key)
	return metadata.NewOutgoingContext(ctx, sent)
}

func (door *grpcDoor) store(ctx context.Context, q *pb.StoreRequest, header header) (*pb.StoreResponse, error) {
	return door.memory.Store(door.with(ctx, header), q)
}

func (door *grpcDoor) recall(ctx context.Context, q *pb.RecallRequest) (*pb.RecallResponse, error) {
	return door.memory.Recall(door.with(ctx, nil), q)
}

func (door *grpcDoor) get(ctx context.Context, q *pb.GetMemoryRequest) (*pb.GetMemoryResponse, error) {
	return door.memory.GetMemory(door.with(ctx, nil), q)
}

func (door *grpcDoor) list(ctx context.Context, q *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error) {
	return door.memory.ListMemories(door.with(ctx, nil), q)
}

func (door *grpcDoor) namespaces(ctx context.Context, q *pb.ListNamespacesRequest) (*pb.ListNamespacesResponse, error) {
	return door.memory.ListNamespaces(door.with(ctx, nil), q)
}

func (door *grpcDoor) forget(ctx context.Context, q *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error) {
	return door.memory.DeleteMemory(door.with(ctx, nil), q)
}

func (door *grpcDoor) drop(ctx context.Context, q *pb.DeleteNamespaceRequest) (*pb.DeleteNamespaceResponse, error) {
	return door.memory.DeleteNamespace(door.with(ctx, nil), q)
}

func (door *grpcDoor) watch(ctx context.Context, q *watchRequest) (*watchResponse, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := door.health.Watch(ctx, q)
	if err != nil {
		return nil, err
	}
	return stream.Recv()
}

func (door *grpcDoor) explain(err error) (connect.Code, []string) {
	failure := status.Convert(err)
	var fields []string
	for _, detail := range failure.Details() {
		fields = append(fields, fieldsOf(detail)...)
	}
	return connect.Code(failure.Code()), fields
}
