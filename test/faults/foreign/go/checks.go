package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	pb "recalld/foreign/gen/recalld/v1"
)

const (
	text           = "The cat sleeps on the radiator."
	tooLargeStores = 120
	tooLargeBytes  = 1_100_000
	refusal        = "the body is larger than"
	retries        = 60
	usualTimeout   = 30 * time.Second
	// A timer of 32 bits of milliseconds ends at 24.8 days.
	longTimeout = 60 * 24 * time.Hour
)

type run struct {
	api       apiClient
	namespace string
	calls     int
}

var checks = []struct {
	name string
	do   func(*run) error
}{
	{"store, recall, get, list, delete, namespaces", lives},
	{"one Idempotency-Key, metadata in any order", retried},
	{"bodies that are too large, then a recall", tooLarge},
	{"a deadline of 60 days", farDeadline},
	{"a wrong field is named", wrongField},
	{"Health/Watch, a server stream", watched},
}

func lives(run *run) error {
	metadata, err := structpb.NewStruct(map[string]any{"a": 1.5, "b": map[string]any{"c": []any{true, nil, "é"}}})
	if err != nil {
		return err
	}
	stored, err := counted(run, func(ctx context.Context) (*pb.StoreResponse, error) {
		return run.api.store(ctx, &pb.StoreRequest{Text: text, Namespace: run.namespace, Metadata: metadata}, nil)
	})
	if err != nil {
		return err
	}
	recalled, err := run.recall()
	if err != nil {
		return err
	}
	if len(recalled.Results) != 1 || recalled.Results[0].Id != stored.Id || recalled.Results[0].Text != text {
		return fmt.Errorf("recalled %v, stored %s", recalled, stored.Id)
	}
	got, err := counted(run, func(ctx context.Context) (*pb.GetMemoryResponse, error) {
		return run.api.get(ctx, &pb.GetMemoryRequest{Namespace: run.namespace, Id: stored.Id})
	})
	if err != nil {
		return err
	}
	if !proto.Equal(got.Memory.Metadata, metadata) {
		return fmt.Errorf("metadata came back as %v", got.Memory.Metadata)
	}
	return run.listedUntilForgotten(stored.Id)
}

func (run *run) listedUntilForgotten(id string) error {
	listed, err := counted(run, func(ctx context.Context) (*pb.ListMemoriesResponse, error) {
		return run.api.list(ctx, &pb.ListMemoriesRequest{Namespace: run.namespace})
	})
	if err != nil {
		return err
	}
	if len(listed.Memories) != 1 || listed.Memories[0].Id != id {
		return fmt.Errorf("listed %v, stored %s", listed, id)
	}
	all, err := counted(run, func(ctx context.Context) (*pb.ListNamespacesResponse, error) {
		return run.api.namespaces(ctx, &pb.ListNamespacesRequest{})
	})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all.Namespaces, func(each *pb.Namespace) bool { return each.Namespace == run.namespace }) {
		return fmt.Errorf("%s is not among %v", run.namespace, all)
	}
	return run.forgotten(id)
}

func (run *run) forgotten(id string) error {
	if _, err := counted(run, func(ctx context.Context) (*pb.DeleteMemoryResponse, error) {
		return run.api.forget(ctx, &pb.DeleteMemoryRequest{Namespace: run.namespace, Id: id})
	}); err != nil {
		return err
	}
	_, err := counted(run, func(ctx context.Context) (*pb.GetMemoryResponse, error) {
		return run.api.get(ctx, &pb.GetMemoryRequest{Namespace: run.namespace, Id: id})
	})
	if err := run.expectCode(err, connect.CodeNotFound, "no memory with this id"); err != nil {
		return err
	}
	_, err = counted(run, func(ctx context.Context) (*pb.DeleteNamespaceResponse, error) {
		return run.api.drop(ctx, &pb.DeleteNamespaceRequest{Namespace: run.namespace})
	})
	return err
}

func retried(run *run) error {
	ids := map[string]bool{}
	for range retries {
		// Go ranges over a map, and so writes it, in another order each time.
		fields := map[string]any{}
		for _, name := range strings.Split("abcdefgh", "") {
			fields[name] = map[string]any{"x" + name: 1, "y" + name: 2}
		}
		metadata, err := structpb.NewStruct(fields)
		if err != nil {
			return err
		}
		stored, err := counted(run, func(ctx context.Context) (*pb.StoreResponse, error) {
			request := &pb.StoreRequest{Text: text, Namespace: run.namespace, Metadata: metadata}
			return run.api.store(ctx, request, header{"idempotency-key": run.namespace})
		})
		if err != nil {
			return fmt.Errorf("after %d ids: %w", len(ids), err)
		}
		ids[stored.Id] = true
	}
	if len(ids) != 1 {
		return fmt.Errorf("%d stores gave %d ids", retries, len(ids))
	}
	return nil
}

func tooLarge(run *run) error {
	request := &pb.StoreRequest{Text: randomText(tooLargeBytes), Namespace: run.namespace}
	for number := range tooLargeStores {
		_, err := counted(run, func(ctx context.Context) (*pb.StoreResponse, error) {
			return run.api.store(ctx, request, nil)
		})
		if err := run.expectCode(err, connect.CodeResourceExhausted, refusal); err != nil {
			return fmt.Errorf("store %d: %w", number, err)
		}
	}
	_, err := run.recall()
	return err
}

func farDeadline(run *run) error {
	run.calls++
	ctx, stop := context.WithTimeout(context.Background(), longTimeout)
	defer stop()
	_, err := run.api.recall(ctx, &pb.RecallRequest{Query: text, Namespace: run.namespace})
	return err
}

func wrongField(run *run) error {
	_, err := counted(run, func(ctx context.Context) (*pb.RecallResponse, error) {
		return run.api.recall(ctx, &pb.RecallRequest{Query: text, Namespace: run.namespace, TopK: proto.Int32(21)})
	})
	if err := run.expectCode(err, connect.CodeInvalidArgument, "top_k"); err != nil {
		return err
	}
	if _, fields := run.api.explain(err); len(fields) != 1 || fields[0] != "top_k" {
		return fmt.Errorf("the details name %v, not top_k", fields)
	}
	return nil
}

func watched(run *run) error {
	told, err := counted(run, func(ctx context.Context) (*watchResponse, error) {
		return run.api.watch(ctx, &watchRequest{Service: "recalld.v1.MemoryService"})
	})
	if err != nil {
		return err
	}
	if told.Status.String() != "SERVING" {
		return fmt.Errorf("health is %s", told.Status)
	}
	return nil
}

func (run *run) recall() (*pb.RecallResponse, error) {
	return counted(run, func(ctx context.Context) (*pb.RecallResponse, error) {
		return run.api.recall(ctx, &pb.RecallRequest{Query: text, Namespace: run.namespace})
	})
}

// In the server's words: a library has codes for what breaks on the way as well.
func (run *run) expectCode(err error, expected connect.Code, says string) error {
	if err == nil {
		return fmt.Errorf("answered, where %s was expected", expected)
	}
	if code, _ := run.api.explain(err); code != expected || !strings.Contains(err.Error(), says) {
		return fmt.Errorf("%w, where %s was expected, with %s", err, expected, says)
	}
	return nil
}

func counted[A any](run *run, do func(context.Context) (*A, error)) (*A, error) {
	run.calls++
	ctx, stop := context.WithTimeout(context.Background(), usualTimeout)
	defer stop()
	return do(ctx)
}

// Text that gzip does not make small.
func randomText(bytes int) string {
	var text strings.Builder
	state := uint32(1)
	for text.Len() < bytes {
		state = state*1664525 + 1013904223
		text.WriteByte(byte(33 + state>>24%94))
	}
	return text.String()
}
