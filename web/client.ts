export * from "../gen/recalld/v1/account_pb.js";
export * from "../gen/recalld/v1/memory_pb.js";
