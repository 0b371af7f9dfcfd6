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

type connectDoor struct {
	label, key string
	memory     recalldv1connect.MemoryServiceClient
	health     *connect.Client[watchRequest, watchResponse]
}

func (door *connectDoor) name() string { return door.label }

func call[Q, A any](
	door *connectDoor, ctx context.Context, question *Q, header header,
	do func(context.Context, *connect.Request[Q]) (*connect.Response[A], error),
) (*A, error) {
	request := connect.NewRequest(question)
	request.Header().Set("Authorization", "Bearer "+door.key)
	for name, value := range header {
		request.Header().Set(name, value)
	}
	response, err := do(ctx, request)
	if err != nil {
		return nil, err
	}
	return response.Msg, nil
}

func (door *connectDoor) store(ctx context.Context, q *pb.StoreRequest, header header) (*pb.StoreResponse, error) {
	return call(door, ctx, q, header, door.memory.Store)
}

func (door *connectDoor) recall(ctx context.Context, q *pb.RecallRequest) (*pb.RecallResponse, error) {
	return call(door, ctx, q, nil, door.memory.Recall)
}

func (door *connectDoor) get(ctx context.Context, q *pb.GetMemoryRequest) (*pb.GetMemoryResponse, error) {
	return call(door, ctx, q, nil, door.memory.GetMemory)
}

func (door *connectDoor) list(ctx context.Context, q *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error) {
	return call(door, ctx, q, nil, door.memory.ListMemories)
}

func (door *connectDoor) namespaces(ctx context.Context, q *pb.ListNamespacesRequest) (*pb.ListNamespacesResponse, error) {
	return call(door, ctx, q, nil, door.memory.ListNamespaces)
}

func (door *connectDoor) forget(ctx context.Context, q *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error) {
	return call(door, ctx, q, nil, door.memory.DeleteMemory)
}

func (door *connectDoor) drop(ctx context.Context, q *pb.DeleteNamespaceRequest) (*pb.DeleteNamespaceResponse, error) {
	return call(door, ctx, q, nil, door.memory.DeleteNamespace)
}

func (door *connectDoor) watch(ctx context.Context, q *watchRequest) (*watchResponse, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	stream, err := door.health.CallServerStream(ctx, connect.NewRequest(q))
	if err != nil {
		return nil, err
	}
	if !stream.Receive() {
		return nil, errors.Join(stream.Err(), io.ErrUnexpectedEOF)
	}
	return stream.Msg(), nil
}

func (door *connectDoor) explain(err error) (connect.Code, []string) {
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
