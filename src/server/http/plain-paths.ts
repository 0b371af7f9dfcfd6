/** Short second paths of RPCs, for callers that speak plain HTTP and JSON. */
export const PLAIN_PATHS = {
  "/recalld.v1.MemoryService/Store": "/store",
  "/recalld.v1.MemoryService/StoreBatch": "/store/batch",
  "/recalld.v1.MemoryService/Recall": "/recall",
  "/recalld.v1.AccountService/SignUp": "/signup",
};
