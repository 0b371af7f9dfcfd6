package main

import (
	"context"
	"net/http"
	"net/url"

	"connectrpc.com/connect"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"

	pb "recalld/foreign/gen/recalld/v1"
	"recalld/foreign/gen/recalld/v1/recalldv1connect"
)

type (
	watchRequest  = grpc_health_v1.HealthCheckRequest
	watchResponse = grpc_health_v1.HealthCheckResponse
)

const watchPath = "/grpc.health.v1.Health/Watch"

// Sent with a call, beside the key.
type header map[string]string

// One client: the calls that are checked, whatever library makes them.
type apiClient interface {
	name() string
	store(context.Context, *pb.StoreRequest, header) (*pb.StoreResponse, error)
	recall(context.Context, *pb.RecallRequest) (*pb.RecallResponse, error)
	get(context.Context, *pb.GetMemoryRequest) (*pb.GetMemoryResponse, error)
	list(context.Context, *pb.ListMemoriesRequest) (*pb.ListMemoriesResponse, error)
	namespaces(context.Context, *pb.ListNamespacesRequest) (*pb.ListNamespacesResponse, error)
	forget(context.Context, *pb.DeleteMemoryRequest) (*pb.DeleteMemoryResponse, error)
	drop(context.Context, *pb.DeleteNamespaceRequest) (*pb.DeleteNamespaceResponse, error)
	// The first message of a server stream that stays open.
	watch(context.Context, *watchRequest) (*watchResponse, error)
	// The code of an error, and the fields that its details name.
	explain(error) (connect.Code, []string)
}

func openClients(base, key string) ([]apiClient, error) {
	at, err := url.Parse(base)
	if err != nil {
		return nil, err
	}
	connection, err := grpc.NewClient(at.Host, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, err
	}
	http1, http2 := &http.Client{}, &http.Client{Transport: onlyHTTP2()}
	json := connect.WithClientOptions(connect.WithProtoJSON(), connect.WithHTTPGet())
	return []apiClient{
		newGrpcClient(connection, key),
		newConnectClient("connect-go, gRPC", http2, base, key, connect.WithGRPC()),
		newConnectClient("connect-go, gRPC-Web", http1, base, key, connect.WithGRPCWeb(), connect.WithSendGzip()),
		newConnectClient("connect-go, Connect over HTTP/1.1", http1, base, key, connect.WithHTTPGet()),
		newConnectClient("connect-go, Connect over HTTP/2", http2, base, key, connect.WithSendGzip()),
		newConnectClient("connect-go, Connect with JSON", http1, base, key, json),
	}, nil
}

// HTTP/2 with prior knowledge, on one connection.
func onlyHTTP2() *http.Transport {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return transport
}

func newConnectClient(label string, client *http.Client, base, key string, options ...connect.ClientOption) apiClient {
	return &connectClient{
		label:  label,
		key:    key,
		memory: recalldv1connect.NewMemoryServiceClient(client, base, options...),
		health: connect.NewClient[watchRequest, watchResponse](client, base+watchPath, options...),
	}
}

func newGrpcClient(connection *grpc.ClientConn, key string) apiClient {
	return &grpcClient{
		key:    key,
		memory: pb.NewMemoryServiceClient(connection),
		health: grpc_health_v1.NewHealthClient(connection),
	}
}
