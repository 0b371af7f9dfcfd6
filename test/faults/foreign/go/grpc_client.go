package main

import (
	"context"

	"connectrpc.com/connect"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	pb "recalld/foreign/gen/recalld/v1"
)

type grpcClient struct {
	key    string
	memory pb.MemoryServiceClient
	health grpc_health_v1.HealthClient
}

func (api *grpcClient) name() string { return "grpc-go" }

func (api *grpcClient) with(ctx context.Context, header header) context.Context {
	sent := metadata.New(header)
	sent.Set("authorization", "Bearer "+api.key)
	return metadata.NewOutgoingContext(ctx, sent)
}

func (api *grpcClient) store(ctx context.Context, q *pb.StoreRequest, header header) (*pb.StoreResponse, error) {
	return api.memory.Store(api.with(ctx, header), q)
}

func (api *grpcClient) recall(ctx context.Context, q *pb.RecallRequest) (*pb.RecallResponse, error) {
	return api.memory.Recall(api.with(ctx, nil), q)
}

func (api *grpcClient) get(ctx context.Context, q *pb.GetMemoryRequest) (*pb.GetMemoryResponse, error) {
	return api.memory.GetMemory(api.with(ctx, nil), q)
}

func (api *grpcClient) list(ctx context.Context, q *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error) {
	return api.memory.ListMemories(api.with(ctx, nil), q)
}

func (api *grpcClient) namespaces(ctx context.Context, q *pb.ListNamespacesRequest) (*pb.ListNamespacesResponse, error) {
	return api.memory.ListNamespaces(api.with(ctx, nil), q)
}

func (api *grpcClient) forget(ctx context.Context, q *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error) {
	return api.memory.DeleteMemory(api.with(ctx, nil), q)
}

func (api *grpcClient) drop(ctx context.Context, q *pb.DeleteNamespaceRequest) (*pb.DeleteNamespaceResponse, error) {
	return api.memory.DeleteNamespace(api.with(ctx, nil), q)
}

func (api *grpcClient) watch(ctx context.Context, q *watchRequest) (*watchResponse, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := api.health.Watch(ctx, q)
	if err != nil {
		return nil, err
	}
	return stream.Recv()
}

func (api *grpcClient) explain(err error) (connect.Code, []string) {
	failure := status.Convert(err)
	var fields []string
	for _, detail := range failure.Details() {
		fields = append(fields, fieldsOf(detail)...)
	}
	return connect.Code(failure.Code()), fields
}
