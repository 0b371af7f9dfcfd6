/** Form of JSON on every path: snake_case, with fields at their defaults; an unknown field is an error. */
export const JSON_OPTIONS = {
  useProtoFieldName: true,
  alwaysEmitImplicit: true,
  ignoreUnknownFields: false,
} as const;
