package main

import (
	"context"
	"errors"
	"io"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"

	pb "recalld/foreign/gen/recalld/v1"
	"recalld/foreign/gen/recalld/v1/recalldv1connect"
)

type connectClient struct {
	label, key string
	memory     recalldv1connect.MemoryServiceClient
	health     *connect.Client[watchRequest, watchResponse]
}

func (api *connectClient) name() string { return api.label }

func call[Q, A any](
	api *connectClient, ctx context.Context, question *Q, header header,
	do func(context.Context, *connect.Request[Q]) (*connect.Response[A], error),
) (*A, error) {
	request := connect.NewRequest(question)
	request.Header().Set("Authorization", "Bearer "+api.key)
	for name, value := range header {
		request.Header().Set(name, value)
	}
	response, err := do(ctx, request)
	if err != nil {
		return nil, err
	}
	return response.Msg, nil
}

func (api *connectClient) store(ctx context.Context, q *pb.StoreRequest, header header) (*pb.StoreResponse, error) {
	return call(api, ctx, q, header, api.memory.Store)
}

func (api *connectClient) recall(ctx context.Context, q *pb.RecallRequest) (*pb.RecallResponse, error) {
	return call(api, ctx, q, nil, api.memory.Recall)
}

func (api *connectClient) get(ctx context.Context, q *pb.GetMemoryRequest) (*pb.GetMemoryResponse, error) {
	return call(api, ctx, q, nil, api.memory.GetMemory)
}

func (api *connectClient) list(ctx context.Context, q *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error) {
	return call(api, ctx, q, nil, api.memory.ListMemories)
}

func (api *connectClient) namespaces(ctx context.Context, q *pb.ListNamespacesRequest) (*pb.ListNamespacesResponse, error) {
	return call(api, ctx, q, nil, api.memory.ListNamespaces)
}

func (api *connectClient) forget(ctx context.Context, q *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error) {
	return call(api, ctx, q, nil, api.memory.DeleteMemory)
}

func (api *connectClient) drop(ctx context.Context, q *pb.DeleteNamespaceRequest) (*pb.DeleteNamespaceResponse, error) {
	return call(api, ctx, q, nil, api.memory.DeleteNamespace)
}

func (api *connectClient) watch(ctx context.Context, q *watchRequest) (*watchResponse, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := api.health.CallServerStream(ctx, connect.NewRequest(q))
	if err != nil {
		return nil, err
	}
	if !stream.Receive() {
		return nil, errors.Join(stream.Err(), io.ErrUnexpectedEOF)
	}
	return stream.Msg(), nil
}

func (api *connectClient) explain(err error) (connect.Code, []string) {
	var failure *connect.Error
	if !errors.As(err, &failure) {
		return connect.CodeOf(err), nil
	}
	var fields []string
	for _, detail := range failure.Details() {
		value, _ := detail.Value()
		fields = append(fields, fieldsOf(value)...)
	}
	return failure.Code(), fields
}

func fieldsOf(detail any) (fields []string) {
	if bad, is := detail.(*errdetails.BadRequest); is {
		for _, violation := range bad.FieldViolations {
			fields = append(fields, violation.Field)
		}
	}
	return fields
}
