// Generated from proto/ by scripts/generate-openapi.ts: `npm run generate`.

export const openapi: Record<string, unknown> = {
  "openapi": "3.1.0",
  "info": {
    "title": "recalld",
    "version": "0.1.0",
    "description": "Stores short texts in namespaces and recalls, by meaning, the ones nearest to a question.\n\nEvery call but sign-up needs an API key, as `Authorization: Bearer KEY` or `X-API-Key: KEY`. JSON is snake_case, in UTF-8; fields at their defaults are there; unknown fields are errors, and so are keys that come twice. The paths under `/recalld.v1.` are the Connect protocol's, with JSON bodies; gRPC and gRPC-Web are served at the same paths and on the same port.",
    "license": {
      "name": "Apache-2.0",
      "identifier": "Apache-2.0"
    }
  },
  "servers": [
    {
      "url": "."
    }
  ],
  "security": [
    {
      "bearer": []
    },
    {
      "apiKey": []
    }
  ],
  "tags": [
    {
      "name": "MemoryService",
      "description": "Stores short texts in namespaces and recalls, by meaning, the ones most similar to a question.\n\nEvery call needs an API key (`Authorization: Bearer KEY`, or `X-API-Key`) and names its namespace: an id alone never says where. A successful Store costs one call of the account's plan, a StoreBatch one for each memory, a Recall one, or one for each of `queries`, and an UpdateMemory that gives a text one; a call that fails, and every other call, costs nothing."
    },
    {
      "name": "AccountService",
      "description": "Hands out API keys and says what is used of the plan."
    }
  ],
  "paths": {
    "/store": {
      "post": {
        "operationId": "store",
        "tags": [
          "MemoryService"
        ],
        "summary": "Stores one memory",
        "description": "Once answered, it survives a crash of the server and is found by the very next Recall, on any replica. The namespace comes into being with its first memory.\n\nWith the header (gRPC: metadata) `Idempotency-Key`, up to 255 characters, calls with the same key and the same request store once within 24 hours: later ones get the first one's answer with `Idempotent-Replayed: true` and cost nothing. Another request under the same key is `already_exists`.\n\nAlso served as `POST /store`.",
        "parameters": [
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Calls with the same key and the same request store once within 24 hours.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 255
            }
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/StoreRequest"
              },
              "example": {
                "text": "The cat sleeps on the warm radiator.",
                "namespace": "pets",
                "metadata": {
                  "source": "chat",
                  "turn": 7
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/StoreResponse"
                },
                "example": {
                  "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                  "namespace": "pets",
                  "tokens": 8,
                  "created_at": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "404": {
            "$ref": "#/components/responses/RestError404"
          },
          "409": {
            "$ref": "#/components/responses/RestError409"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/store/batch": {
      "post": {
        "operationId": "storeBatch",
        "tags": [
          "MemoryService"
        ],
        "summary": "Stores up to 256 memories of one namespace, each as Store does, as if one after the other",
        "description": "Everything is checked before anything is stored, and a batch that the plan cannot pay is refused whole. After that each memory has a result of its own, in order: those that could not be stored cost nothing and may be sent again. A call that can store none of them has the error of the first.\n\n`Idempotency-Key` is as with Store, for the batch as a whole. What an attempt could not store, the next call with the key stores.\n\nAlso served as `POST /store/batch`.",
        "parameters": [
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Calls with the same key and the same request store once within 24 hours.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 255
            }
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/StoreBatchRequest"
              },
              "example": {
                "namespace": "pets",
                "memories": [
                  {
                    "text": "The cat sleeps on the warm radiator.",
                    "metadata": {
                      "source": "chat",
                      "turn": 7
                    }
                  },
                  {
                    "text": "The dog barks."
                  }
                ]
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/StoreBatchResponse"
                },
                "example": {
                  "results": [
                    {
                      "stored": {
                        "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                        "tokens": 8,
                        "created_at": "2026-11-21T09:30:00.123Z"
                      }
                    },
                    {
                      "error": {
                        "code": "unavailable",
                        "message": "the model is not loaded yet",
                        "reason": ""
                      }
                    }
                  ],
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-2"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "409": {
            "$ref": "#/components/responses/RestError409-2"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/recall": {
      "post": {
        "operationId": "recall",
        "tags": [
          "MemoryService"
        ],
        "summary": "Finds the memories of one namespace whose meaning is nearest to the query, or to any of several, or to a stored memory, best first; by their words as well, if `mode` says so",
        "description": "A namespace nobody stored to has no results; recalling does not create it.\n\nAlso served as `POST /recall`.",
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/RecallRequest"
              },
              "example": {
                "query": "Where does the cat sleep?",
                "namespace": "pets",
                "top_k": 3
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/RecallResponse"
                },
                "example": {
                  "results": [
                    {
                      "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                      "text": "The cat sleeps on the warm radiator.",
                      "score": 0.79,
                      "metadata": {
                        "source": "chat",
                        "turn": 7
                      },
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "match": {
                        "start": 0,
                        "end": 36
                      }
                    }
                  ],
                  "namespace": "pets",
                  "query_tokens": 6
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/signup": {
      "post": {
        "operationId": "signUp",
        "tags": [
          "AccountService"
        ],
        "summary": "Opens an account on the free plan and returns its API key, this once: only a hash of it is kept",
        "description": "Needs no key.\n\nAlso served as `POST /signup`.",
        "security": [],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/SignUpRequest"
              },
              "example": {
                "email": "ada@example.org"
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/SignUpResponse"
                },
                "example": {
                  "account_id": "acc_01kafz2n7teh5b9cxq4w0m8dks",
                  "api_key": "rcl_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE",
                  "plan": "free",
                  "calls_limit": 1000,
                  "calls_used": 0
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-4"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-3"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-2"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/memories": {
      "get": {
        "operationId": "listMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "A namespace's memories, the newest or the oldest first by when they were stored or by when they happened, page by page",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}/memories`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace to list.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "page_size",
            "in": "query",
            "required": false,
            "description": "How many to return at most: 1 to 100, 50 when left out.",
            "schema": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 100
            },
            "example": 50
          },
          {
            "name": "page_token",
            "in": "query",
            "required": false,
            "description": "`next_page_token` of the page before; left out for the first.",
            "schema": {
              "type": "string"
            }
          },
          {
            "name": "filter",
            "in": "query",
            "required": false,
            "description": "Which memories to list: a filter in the language that docs/filters.md describes; all when left out or empty. The pages of one list have the same filter. It is JSON in a string.",
            "schema": {
              "type": "string"
            }
          },
          {
            "name": "order",
            "in": "query",
            "required": false,
            "description": "What the memories are ordered by. The pages of one list have the same order.",
            "schema": {
              "$ref": "#/components/schemas/Order"
            }
          },
          {
            "name": "include_superseded",
            "in": "query",
            "required": false,
            "description": "Whether memories that others superseded are listed, too.",
            "schema": {
              "type": "boolean"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListMemoriesResponse"
                },
                "example": {
                  "memories": [
                    {
                      "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                      "text": "The cat sleeps on the warm radiator.",
                      "metadata": {
                        "source": "chat",
                        "turn": 7
                      },
                      "tokens": 8,
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                      "updated_at": "2026-11-21T09:30:00.123Z"
                    }
                  ],
                  "namespace": "pets",
                  "next_page_token": ""
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-3"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/memories/{id}": {
      "get": {
        "operationId": "getMemory",
        "tags": [
          "MemoryService"
        ],
        "summary": "One memory by its id",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}/memories/{id}`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace the memory is in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The memory's id, `mem_…`.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
            },
            "example": "mem_01kafz3v2wes8vptq3jbm5yr4x"
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetMemoryResponse"
                },
                "example": {
                  "memory": {
                    "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                    "text": "The cat sleeps on the warm radiator.",
                    "metadata": {
                      "source": "chat",
                      "turn": 7
                    },
                    "tokens": 8,
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                    "updated_at": "2026-11-21T09:30:00.123Z"
                  },
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      },
      "patch": {
        "operationId": "updateMemory",
        "tags": [
          "MemoryService"
        ],
        "summary": "Updates one memory: its text, its metadata or some keys of it, when it expires, or when it happened",
        "description": "Once answered, the new text is found by the very next Recall, on any replica, and the old one never again: it is erased. A text costs one call, other updates cost nothing. `Idempotency-Key` as for Store; a repeated answer has the memory as it is by then.\n\nAlso served as `PATCH /namespaces/{namespace}/memories/{id}`, where `metadata` is a JSON merge patch (RFC 7396): what is left out stays, and null removes a key, all metadata, the event time, or the time at which the memory expires.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace the memory is in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The memory's id, `mem_…`.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
            },
            "example": "mem_01kafz3v2wes8vptq3jbm5yr4x"
          },
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Calls with the same key and the same request store once within 24 hours.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 255
            }
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/UpdateMemoryPatch"
              },
              "example": {
                "metadata": {
                  "turn": 8,
                  "source": null
                }
              }
            },
            "application/merge-patch+json": {
              "schema": {
                "$ref": "#/components/schemas/UpdateMemoryPatch"
              },
              "example": {
                "metadata": {
                  "turn": 8,
                  "source": null
                }
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/UpdateMemoryResponse"
                },
                "example": {
                  "memory": {
                    "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                    "text": "The cat sleeps on the warm radiator.",
                    "metadata": {
                      "source": "chat",
                      "turn": 8
                    },
                    "tokens": 8,
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                    "updated_at": "2026-11-21T09:30:00.123Z"
                  },
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-2"
          },
          "409": {
            "$ref": "#/components/responses/RestError409-3"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      },
      "delete": {
        "operationId": "deleteMemory",
        "tags": [
          "MemoryService"
        ],
        "summary": "Forgets one memory",
        "description": "Once answered, its text, metadata and vector are out of the database and of the index, and no later Recall, on any replica, returns it. Costs nothing.\n\nAlso served as `DELETE /namespaces/{namespace}/memories/{id}`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace the memory is in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The memory's id, `mem_…`.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
            },
            "example": "mem_01kafz3v2wes8vptq3jbm5yr4x"
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteMemoryResponse"
                },
                "example": {
                  "id": "mem_01kafz3v2wes8vptq3jbm5yr4x"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/memories/get": {
      "post": {
        "operationId": "getMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "Up to 256 memories by their ids",
        "description": "Costs nothing.\n\nAlso served as `POST /namespaces/{namespace}/memories/get`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace the memories are in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "type": "object",
                "properties": {
                  "ids": {
                    "type": "array",
                    "items": {
                      "type": "string",
                      "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
                    },
                    "description": "The memories' ids, `mem_…`: 1 to 256. An id that comes twice counts once.",
                    "minLength": 1,
                    "minItems": 1,
                    "maxItems": 256
                  }
                },
                "required": [
                  "ids"
                ],
                "additionalProperties": false
              },
              "example": {
                "ids": [
                  "mem_01kafz3v2wes8vptq3jbm5yr4x"
                ]
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetMemoriesResponse"
                },
                "example": {
                  "memories": [
                    {
                      "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                      "text": "The cat sleeps on the warm radiator.",
                      "metadata": {
                        "source": "chat",
                        "turn": 7
                      },
                      "tokens": 8,
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                      "updated_at": "2026-11-21T09:30:00.123Z"
                    }
                  ],
                  "missing": [],
                  "namespace": "pets",
                  "remaining": []
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/memories/count": {
      "post": {
        "operationId": "countMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "How many memories a namespace holds, or how many of them match a filter",
        "description": "Costs nothing.\n\nAlso served as `POST /namespaces/{namespace}/memories/count`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace to count in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "type": "object",
                "properties": {
                  "filter": {
                    "type": [
                      "object",
                      "null"
                    ],
                    "additionalProperties": true,
                    "description": "Which memories to count: a filter in the language that docs/filters.md describes; all when left out or empty."
                  },
                  "include_superseded": {
                    "type": [
                      "boolean",
                      "null"
                    ],
                    "description": "Whether memories that others superseded count, too."
                  }
                },
                "additionalProperties": false
              },
              "example": {}
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CountMemoriesResponse"
                },
                "example": {
                  "memories": 1,
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-3"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/memories/delete": {
      "post": {
        "operationId": "deleteMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "Forgets up to 256 memories by their ids or by a filter, each like DeleteMemory",
        "description": "Ids that no memory has are no error. Costs nothing.\n\nAlso served as `POST /namespaces/{namespace}/memories/delete`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace the memories are in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "type": "object",
                "properties": {
                  "ids": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "string",
                      "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
                    },
                    "description": "The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once.",
                    "maxItems": 256
                  },
                  "filter": {
                    "type": [
                      "object",
                      "null"
                    ],
                    "additionalProperties": true,
                    "description": "Which memories to forget, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused."
                  },
                  "dry_run": {
                    "type": [
                      "boolean",
                      "null"
                    ],
                    "description": "Forget nothing yet: the answer tells what the filter matches."
                  },
                  "include_superseded": {
                    "type": [
                      "boolean",
                      "null"
                    ],
                    "description": "Whether the filter also finds memories that others superseded. It leaves them alone otherwise."
                  }
                },
                "additionalProperties": false,
                "not": {
                  "anyOf": [
                    {
                      "allOf": [
                        {
                          "required": [
                            "ids"
                          ],
                          "properties": {
                            "ids": {
                              "type": "array",
                              "minItems": 1
                            }
                          }
                        },
                        {
                          "required": [
                            "filter"
                          ],
                          "properties": {
                            "filter": {
                              "type": "object",
                              "minProperties": 1
                            }
                          }
                        }
                      ]
                    },
                    {
                      "allOf": [
                        {
                          "not": {
                            "required": [
                              "ids"
                            ],
                            "properties": {
                              "ids": {
                                "type": "array",
                                "minItems": 1
                              }
                            }
                          }
                        },
                        {
                          "not": {
                            "required": [
                              "filter"
                            ],
                            "properties": {
                              "filter": {
                                "type": "object",
                                "minProperties": 1
                              }
                            }
                          }
                        }
                      ]
                    },
                    {
                      "allOf": [
                        {
                          "required": [
                            "dry_run"
                          ],
                          "properties": {
                            "dry_run": {
                              "const": true
                            }
                          }
                        },
                        {
                          "not": {
                            "required": [
                              "filter"
                            ],
                            "properties": {
                              "filter": {
                                "type": "object"
                              }
                            }
                          }
                        }
                      ]
                    }
                  ]
                }
              },
              "example": {
                "ids": [
                  "mem_01kafz3v2wes8vptq3jbm5yr4x"
                ]
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteMemoriesResponse"
                },
                "example": {
                  "deleted": 1,
                  "more": false,
                  "samples": [],
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-3"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/memories/update": {
      "post": {
        "operationId": "updateMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "Changes the metadata of up to 256 memories, by their ids or by a filter: merges some into that of each, and removes paths",
        "description": "Texts stay as they are. A memory whose metadata is so already is not written, so that the same request may be sent twice. Costs nothing; what it writes takes of the key's rate.\n\nAlso served as `POST /namespaces/{namespace}/memories/update`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace the memories are in.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "type": "object",
                "properties": {
                  "ids": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "string",
                      "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
                    },
                    "description": "The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once.",
                    "maxItems": 256
                  },
                  "filter": {
                    "type": [
                      "object",
                      "null"
                    ],
                    "additionalProperties": true,
                    "description": "Which memories to update, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused; memories that others superseded match none, because they cannot be updated."
                  },
                  "metadata": {
                    "type": [
                      "object",
                      "null"
                    ],
                    "additionalProperties": true,
                    "description": "What to merge into the metadata of each, as a JSON merge patch (RFC 7396): objects are merged at every depth, null removes a key, and anything else, arrays too, takes the place of what was there. It is applied after `remove`."
                  },
                  "remove": {
                    "type": [
                      "array",
                      "null"
                    ],
                    "items": {
                      "type": "string"
                    },
                    "description": "Paths to remove from the metadata of each, written as in filters: `a.b` is the key `b` of the object `a`. Up to 256. A path that leads nowhere is no error.",
                    "maxItems": 256
                  },
                  "dry_run": {
                    "type": [
                      "boolean",
                      "null"
                    ],
                    "description": "Update nothing yet: the answer tells what the filter matches."
                  },
                  "page_token": {
                    "type": [
                      "string",
                      "null"
                    ],
                    "description": "`next_page_token` of the answer before; left out at first. The other fields stay as they were."
                  }
                },
                "additionalProperties": false,
                "not": {
                  "anyOf": [
                    {
                      "allOf": [
                        {
                          "required": [
                            "ids"
                          ],
                          "properties": {
                            "ids": {
                              "type": "array",
                              "minItems": 1
                            }
                          }
                        },
                        {
                          "required": [
                            "filter"
                          ],
                          "properties": {
                            "filter": {
                              "type": "object",
                              "minProperties": 1
                            }
                          }
                        }
                      ]
                    },
                    {
                      "allOf": [
                        {
                          "not": {
                            "required": [
                              "ids"
                            ],
                            "properties": {
                              "ids": {
                                "type": "array",
                                "minItems": 1
                              }
                            }
                          }
                        },
                        {
                          "not": {
                            "required": [
                              "filter"
                            ],
                            "properties": {
                              "filter": {
                                "type": "object",
                                "minProperties": 1
                              }
                            }
                          }
                        }
                      ]
                    },
                    {
                      "allOf": [
                        {
                          "required": [
                            "dry_run"
                          ],
                          "properties": {
                            "dry_run": {
                              "const": true
                            }
                          }
                        },
                        {
                          "not": {
                            "required": [
                              "filter"
                            ],
                            "properties": {
                              "filter": {
                                "type": "object"
                              }
                            }
                          }
                        }
                      ]
                    },
                    {
                      "allOf": [
                        {
                          "not": {
                            "required": [
                              "metadata"
                            ],
                            "properties": {
                              "metadata": {
                                "type": "object",
                                "minProperties": 1
                              }
                            }
                          }
                        },
                        {
                          "not": {
                            "required": [
                              "remove"
                            ],
                            "properties": {
                              "remove": {
                                "type": "array",
                                "minItems": 1
                              }
                            }
                          }
                        }
                      ]
                    }
                  ]
                }
              },
              "example": {
                "ids": [
                  "mem_01kafz3v2wes8vptq3jbm5yr4x"
                ],
                "metadata": {
                  "turn": 8
                },
                "remove": [
                  "source"
                ]
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/UpdateMemoriesResponse"
                },
                "example": {
                  "updated": 1,
                  "unchanged": 0,
                  "failed": [],
                  "next_page_token": "",
                  "samples": [],
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-3"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces": {
      "get": {
        "operationId": "listNamespaces",
        "tags": [
          "MemoryService"
        ],
        "summary": "The account's namespaces, page by page",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces`.",
        "parameters": [
          {
            "name": "page_size",
            "in": "query",
            "required": false,
            "description": "How many to return at most: 1 to 100, 50 when left out.",
            "schema": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 100
            },
            "example": 50
          },
          {
            "name": "page_token",
            "in": "query",
            "required": false,
            "description": "`next_page_token` of the page before; left out for the first.",
            "schema": {
              "type": "string"
            }
          },
          {
            "name": "prefix",
            "in": "query",
            "required": false,
            "description": "What the names of the namespaces begin with, up to 256 bytes; all of them when left out. The pages of one list have the same prefix.",
            "schema": {
              "type": "string",
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListNamespacesResponse"
                },
                "example": {
                  "namespaces": [
                    {
                      "namespace": "pets",
                      "memories": 1,
                      "bytes": "62"
                    }
                  ],
                  "next_page_token": ""
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}": {
      "get": {
        "operationId": "getNamespace",
        "tags": [
          "MemoryService"
        ],
        "summary": "What one namespace holds, and when it was stored",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace to describe.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetNamespaceResponse"
                },
                "example": {
                  "namespace": {
                    "namespace": "pets",
                    "memories": 1,
                    "bytes": "62"
                  },
                  "first": "2026-11-21T09:30:00.123Z",
                  "last": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      },
      "delete": {
        "operationId": "deleteNamespace",
        "tags": [
          "MemoryService"
        ],
        "summary": "Drops a namespace and erases all of it; the name is free again",
        "description": "Costs nothing.\n\nAlso served as `DELETE /namespaces/{namespace}`, `?force=true`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace to drop.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "force",
            "in": "query",
            "required": false,
            "description": "Drop it although it holds memories.",
            "schema": {
              "type": "boolean"
            },
            "example": true
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteNamespaceResponse"
                },
                "example": {
                  "deleted": 1
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-5"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/delete": {
      "post": {
        "operationId": "deleteNamespaces",
        "tags": [
          "MemoryService"
        ],
        "summary": "Drops the namespaces whose names begin with a prefix, such as all of one user, each like DeleteNamespace, up to 100 a call",
        "description": "A key that is for one namespace drops that one alone. Costs nothing.\n\nAlso served as `POST /namespaces/delete`.",
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/DeleteNamespacesRequest"
              },
              "example": {
                "prefix": "user-42/",
                "dry_run": true
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteNamespacesResponse"
                },
                "example": {
                  "deleted": 0,
                  "more": false,
                  "namespaces": [
                    "user-42/notes"
                  ],
                  "memories": 1,
                  "matched": 1
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/account": {
      "get": {
        "operationId": "getAccount",
        "tags": [
          "AccountService"
        ],
        "summary": "The caller's own account",
        "description": "Costs nothing.\n\nAlso served as `GET /account`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetAccountResponse"
                },
                "example": {
                  "account_id": "acc_01kafz2n7teh5b9cxq4w0m8dks",
                  "email": "ada@example.org",
                  "plan": "free",
                  "calls_limit": 1000,
                  "calls_used": 0,
                  "created_at": "2026-11-21T09:30:00.123Z",
                  "key": {
                    "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                    "name": "laptop",
                    "prefix": "rcl_EXAM",
                    "access": "KEY_ACCESS_FULL",
                    "namespace": "",
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "replaces": "",
                    "current": true,
                    "sessions": [],
                    "client": ""
                  },
                  "model": {
                    "id": "bundled",
                    "languages": [
                      "en"
                    ],
                    "strong_score": 0.8
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      },
      "delete": {
        "operationId": "closeAccount",
        "tags": [
          "AccountService"
        ],
        "summary": "Closes the account: all its keys are revoked and all its memories erased",
        "description": "Costs nothing, and cannot be undone.\n\nAlso served as `DELETE /account`.",
        "parameters": [
          {
            "name": "account_id",
            "in": "query",
            "required": true,
            "description": "The account's id, to make sure that it is meant.",
            "schema": {
              "type": "string",
              "minLength": 1
            },
            "example": "acc_01kafz2n7teh5b9cxq4w0m8dks"
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CloseAccountResponse"
                },
                "example": {
                  "deleted": 1
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-4"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/usage": {
      "get": {
        "operationId": "getUsage",
        "tags": [
          "AccountService"
        ],
        "summary": "What the account used, day by day, and which keys and namespaces used it",
        "description": "Costs nothing.\n\nAlso served as `GET /usage`.",
        "parameters": [
          {
            "name": "days",
            "in": "query",
            "required": false,
            "description": "How many days back, today included: 1 to 90, 30 when left out.",
            "schema": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 90
            },
            "example": 1
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetUsageResponse"
                },
                "example": {
                  "days": [
                    {
                      "date": "2026-11-21",
                      "stores": 1,
                      "recalls": 2,
                      "tokens_stored": 8,
                      "tokens_queried": 12,
                      "hours": [
                        {
                          "hour": 9,
                          "stores": 1,
                          "recalls": 2,
                          "tokens_stored": 8,
                          "tokens_queried": 12
                        }
                      ]
                    }
                  ],
                  "keys": [
                    {
                      "key_id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                      "stores": 1,
                      "recalls": 2,
                      "tokens_stored": 8,
                      "tokens_queried": 12
                    }
                  ],
                  "namespaces": [
                    {
                      "namespace": "pets",
                      "stores": 1,
                      "recalls": 2,
                      "tokens_stored": 8,
                      "tokens_queried": 12
                    }
                  ],
                  "since": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/calls": {
      "get": {
        "operationId": "listRecentCalls",
        "tags": [
          "AccountService"
        ],
        "summary": "The last calls by the account's keys, the newest first, without any texts: 10,000 of the last 30 days, unless the operator sets other limits",
        "description": "Every replica gives the same answer within a second. A key for one namespace sees its own calls alone. Calls of this method, and those that the portal makes for a browser, are not listed. Costs nothing.\n\nAlso served as `GET /calls`.",
        "parameters": [
          {
            "name": "page_size",
            "in": "query",
            "required": false,
            "description": "How many to return at most: 1 to 100, 50 when left out.",
            "schema": {
              "type": "integer",
              "format": "int32",
              "minimum": 1,
              "maximum": 100
            },
            "example": 50
          },
          {
            "name": "page_token",
            "in": "query",
            "required": false,
            "description": "`next_page_token` of the page before; left out for the first.",
            "schema": {
              "type": "string"
            }
          },
          {
            "name": "errors_only",
            "in": "query",
            "required": false,
            "description": "Whether only calls that failed are listed.",
            "schema": {
              "type": "boolean"
            },
            "example": true
          },
          {
            "name": "method",
            "in": "query",
            "required": false,
            "description": "Only calls of this method: `recalld.v1.MemoryService/Recall`, or `Recall`. All when left out, as with the fields below. Those that are given must all fit a call.",
            "schema": {
              "type": "string"
            },
            "example": "Recall"
          },
          {
            "name": "key_id",
            "in": "query",
            "required": false,
            "description": "Only calls that were made with the key of this id.",
            "schema": {
              "type": "string"
            }
          },
          {
            "name": "code",
            "in": "query",
            "required": false,
            "description": "Only calls that ended so: `ok`, or the name of an error.",
            "schema": {
              "type": "string"
            }
          },
          {
            "name": "namespace",
            "in": "query",
            "required": false,
            "description": "Only calls that named this namespace.",
            "schema": {
              "type": "string",
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListRecentCallsResponse"
                },
                "example": {
                  "calls": [
                    {
                      "start_time": "2026-11-21T09:30:00.123Z",
                      "method": "recalld.v1.MemoryService/Recall",
                      "protocol": "json",
                      "key_id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                      "code": "resource_exhausted",
                      "duration_ms": 0.42,
                      "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                      "namespace": "pets",
                      "message": "all 1,000 calls of this account's plan are used"
                    }
                  ],
                  "next_page_token": "",
                  "since": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-3"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/keys": {
      "get": {
        "operationId": "listKeys",
        "tags": [
          "AccountService"
        ],
        "summary": "The account's living keys, without their secrets",
        "description": "Costs nothing.\n\nAlso served as `GET /keys`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListKeysResponse"
                },
                "example": {
                  "keys": [
                    {
                      "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                      "name": "laptop",
                      "prefix": "rcl_EXAM",
                      "access": "KEY_ACCESS_FULL",
                      "namespace": "",
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "replaces": "",
                      "current": true,
                      "sessions": [],
                      "client": ""
                    }
                  ]
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-3"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-4"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      },
      "post": {
        "operationId": "createKey",
        "tags": [
          "AccountService"
        ],
        "summary": "Makes another key and returns it, this once",
        "description": "Costs nothing.\n\nWith `replaces` it is a rotation without downtime: the old key works until the new one is first used, and then for `grace_seconds` more.\n\nAlso served as `POST /keys`.",
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/CreateKeyRequest"
              },
              "example": {
                "name": "laptop",
                "access": "KEY_ACCESS_FULL"
              }
            }
          }
        },
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CreateKeyResponse"
                },
                "example": {
                  "api_key": "rcl_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE",
                  "key": {
                    "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                    "name": "laptop",
                    "prefix": "rcl_EXAM",
                    "access": "KEY_ACCESS_FULL",
                    "namespace": "",
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "replaces": "",
                    "current": false,
                    "sessions": [],
                    "client": ""
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-6"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-4"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-3"
          },
          "413": {
            "$ref": "#/components/responses/RestError413"
          },
          "415": {
            "$ref": "#/components/responses/RestError415"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/keys/{id}": {
      "delete": {
        "operationId": "revokeKey",
        "tags": [
          "AccountService"
        ],
        "summary": "Revokes a key and its sessions, or one session: they are refused from now on, on every replica",
        "description": "The account's last key needs `force`, for nobody gets in afterwards. Costs nothing.\n\nAlso served as `DELETE /keys/{id}`.",
        "parameters": [
          {
            "name": "id",
            "in": "path",
            "required": true,
            "description": "The key's id, or a session's.",
            "schema": {
              "type": "string",
              "minLength": 1
            },
            "example": "key_01kafz3v2wes8vptq3jbm5yr4x"
          },
          {
            "name": "force",
            "in": "query",
            "required": false,
            "description": "Revoke it although it is the account's last.",
            "schema": {
              "type": "boolean"
            },
            "example": false
          }
        ],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/RevokeKeyResponse"
                },
                "example": {
                  "id": "key_01kafz3v2wes8vptq3jbm5yr4x"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-7"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-4"
          },
          "404": {
            "$ref": "#/components/responses/RestError404-3"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-4"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-2"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/events": {
      "get": {
        "operationId": "watchNamespace",
        "tags": [
          "MemoryService"
        ],
        "summary": "Every change of a namespace from a position on, in order, for as long as the caller listens",
        "description": "It goes on after the namespace was dropped, with the next one of this name; one that nobody stored to can be watched, too. Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}/events`, as `text/event-stream`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace to watch.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "position",
            "in": "query",
            "required": false,
            "description": "Where to begin: `position` of the last event that was seen, or of an export. Left out, it begins now.",
            "schema": {
              "type": "string"
            },
            "example": "WyIxMDU2YjM5ZTUxZTQzNTdkYjVjNCIsN10"
          },
          {
            "name": "Last-Event-ID",
            "in": "header",
            "description": "The same as `position`, and wins over it: browsers send it when they connect again.",
            "schema": {
              "type": "string"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A stream.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "text/event-stream": {
                "schema": {
                  "type": "string"
                },
                "example": "event: stored\nid: WyIxMDU2YjM5ZTUxZTQzNTdkYjVjNCIsN10\ndata: {\"id\":\"mem_01kafz3v2wes8vptq3jbm5yr4x\",\"text\":\"The cat sleeps on the warm radiator.\",\"metadata\":{\"source\":\"chat\",\"turn\":7},\"tokens\":8,\"created_at\":\"2026-11-21T09:30:00.123Z\",\"etag\":\"\\\"sQ1bHkTDIyhT4Qx7\\\"\",\"updated_at\":\"2026-11-21T09:30:00.123Z\"}\n\n"
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-8"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-5"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-4"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/namespaces/{namespace}/export": {
      "get": {
        "operationId": "exportMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "A namespace as of one position, to keep or to take along: a line of JSON that says what it is, one for each memory, the oldest first, and one with their number and a checksum",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}/export`, as `application/x-ndjson`.",
        "parameters": [
          {
            "name": "namespace",
            "in": "path",
            "required": true,
            "description": "The namespace to export.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 256,
              "x-max-bytes": 256,
              "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
            },
            "example": "pets"
          },
          {
            "name": "include_vectors",
            "in": "query",
            "required": false,
            "description": "Whether each memory has its vectors.",
            "schema": {
              "type": "boolean"
            },
            "example": false
          },
          {
            "name": "filter",
            "in": "query",
            "required": false,
            "description": "Which memories to export: a filter in the language that docs/filters.md describes; all when left out or empty. It is JSON in a string.",
            "schema": {
              "type": "string"
            }
          }
        ],
        "responses": {
          "200": {
            "description": "A stream.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/x-ndjson": {
                "schema": {
                  "type": "string"
                },
                "example": "{\"format\":\"recalld-export\",\"version\":1,\"model\":\"recalld/tiny\",\"model_revision\":\"0a1b\",\"namespace\":\"pets\",\"position\":\"WyIxMDU2YjM5ZTUxZTQzNTdkYjVjNCIsN10\",\"exported_at\":\"2026-11-21T09:30:00.123Z\"}\n{\"id\":\"mem_01kafz3v2wes8vptq3jbm5yr4x\",\"text\":\"The cat sleeps on the warm radiator.\",\"metadata\":{\"source\":\"chat\",\"turn\":7},\"tokens\":8,\"created_at\":\"2026-11-21T09:30:00.123Z\",\"etag\":\"\\\"sQ1bHkTDIyhT4Qx7\\\"\",\"updated_at\":\"2026-11-21T09:30:00.123Z\"}\n{\"count\":1,\"sha256\":\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"}\n"
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/RestError400-8"
          },
          "401": {
            "$ref": "#/components/responses/RestError401"
          },
          "403": {
            "$ref": "#/components/responses/RestError403-2"
          },
          "429": {
            "$ref": "#/components/responses/RestError429-5"
          },
          "500": {
            "$ref": "#/components/responses/RestError500"
          },
          "503": {
            "$ref": "#/components/responses/RestError503-4"
          },
          "504": {
            "$ref": "#/components/responses/RestError504"
          }
        }
      }
    },
    "/recalld.v1.MemoryService/Store": {
      "post": {
        "operationId": "MemoryService_Store",
        "tags": [
          "MemoryService"
        ],
        "summary": "Stores one memory",
        "description": "Once answered, it survives a crash of the server and is found by the very next Recall, on any replica. The namespace comes into being with its first memory.\n\nWith the header (gRPC: metadata) `Idempotency-Key`, up to 255 characters, calls with the same key and the same request store once within 24 hours: later ones get the first one's answer with `Idempotent-Replayed: true` and cost nothing. Another request under the same key is `already_exists`.\n\nAlso served as `POST /store`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/StoreResponse"
                },
                "example": {
                  "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                  "namespace": "pets",
                  "tokens": 8,
                  "created_at": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "404": {
            "$ref": "#/components/responses/Error404"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "409": {
            "$ref": "#/components/responses/Error409"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "parameters": [
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Calls with the same key and the same request store once within 24 hours.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 255
            }
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/StoreRequest"
              },
              "example": {
                "text": "The cat sleeps on the warm radiator.",
                "namespace": "pets",
                "metadata": {
                  "source": "chat",
                  "turn": 7
                }
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/StoreBatch": {
      "post": {
        "operationId": "MemoryService_StoreBatch",
        "tags": [
          "MemoryService"
        ],
        "summary": "Stores up to 256 memories of one namespace, each as Store does, as if one after the other",
        "description": "Everything is checked before anything is stored, and a batch that the plan cannot pay is refused whole. After that each memory has a result of its own, in order: those that could not be stored cost nothing and may be sent again. A call that can store none of them has the error of the first.\n\n`Idempotency-Key` is as with Store, for the batch as a whole. What an attempt could not store, the next call with the key stores.\n\nAlso served as `POST /store/batch`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/StoreBatchResponse"
                },
                "example": {
                  "results": [
                    {
                      "stored": {
                        "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                        "tokens": 8,
                        "created_at": "2026-11-21T09:30:00.123Z"
                      }
                    },
                    {
                      "error": {
                        "code": "unavailable",
                        "message": "the model is not loaded yet",
                        "reason": ""
                      }
                    }
                  ],
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-2"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "409": {
            "$ref": "#/components/responses/Error409-2"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "parameters": [
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Calls with the same key and the same request store once within 24 hours.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 255
            }
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/StoreBatchRequest"
              },
              "example": {
                "namespace": "pets",
                "memories": [
                  {
                    "text": "The cat sleeps on the warm radiator.",
                    "metadata": {
                      "source": "chat",
                      "turn": 7
                    }
                  },
                  {
                    "text": "The dog barks."
                  }
                ]
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/Recall": {
      "post": {
        "operationId": "MemoryService_Recall",
        "tags": [
          "MemoryService"
        ],
        "summary": "Finds the memories of one namespace whose meaning is nearest to the query, or to any of several, or to a stored memory, best first; by their words as well, if `mode` says so",
        "description": "A namespace nobody stored to has no results; recalling does not create it.\n\nAlso served as `POST /recall`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/RecallResponse"
                },
                "example": {
                  "results": [
                    {
                      "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                      "text": "The cat sleeps on the warm radiator.",
                      "score": 0.79,
                      "metadata": {
                        "source": "chat",
                        "turn": 7
                      },
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "match": {
                        "start": 0,
                        "end": 36
                      }
                    }
                  ],
                  "namespace": "pets",
                  "query_tokens": 6
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/RecallRequest"
              },
              "example": {
                "query": "Where does the cat sleep?",
                "namespace": "pets",
                "top_k": 3
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/GetMemory": {
      "post": {
        "operationId": "MemoryService_GetMemory",
        "tags": [
          "MemoryService"
        ],
        "summary": "One memory by its id",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}/memories/{id}`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetMemoryResponse"
                },
                "example": {
                  "memory": {
                    "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                    "text": "The cat sleeps on the warm radiator.",
                    "metadata": {
                      "source": "chat",
                      "turn": 7
                    },
                    "tokens": 8,
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                    "updated_at": "2026-11-21T09:30:00.123Z"
                  },
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-2"
          },
          "404": {
            "$ref": "#/components/responses/Error404-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/GetMemoryRequest"
              },
              "example": {
                "namespace": "pets",
                "id": "mem_01kafz3v2wes8vptq3jbm5yr4x"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/GetMemories": {
      "post": {
        "operationId": "MemoryService_GetMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "Up to 256 memories by their ids",
        "description": "Costs nothing.\n\nAlso served as `POST /namespaces/{namespace}/memories/get`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetMemoriesResponse"
                },
                "example": {
                  "memories": [
                    {
                      "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                      "text": "The cat sleeps on the warm radiator.",
                      "metadata": {
                        "source": "chat",
                        "turn": 7
                      },
                      "tokens": 8,
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                      "updated_at": "2026-11-21T09:30:00.123Z"
                    }
                  ],
                  "missing": [],
                  "namespace": "pets",
                  "remaining": []
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/GetMemoriesRequest"
              },
              "example": {
                "namespace": "pets",
                "ids": [
                  "mem_01kafz3v2wes8vptq3jbm5yr4x"
                ]
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/UpdateMemory": {
      "post": {
        "operationId": "MemoryService_UpdateMemory",
        "tags": [
          "MemoryService"
        ],
        "summary": "Updates one memory: its text, its metadata or some keys of it, when it expires, or when it happened",
        "description": "Once answered, the new text is found by the very next Recall, on any replica, and the old one never again: it is erased. A text costs one call, other updates cost nothing. `Idempotency-Key` as for Store; a repeated answer has the memory as it is by then.\n\nAlso served as `PATCH /namespaces/{namespace}/memories/{id}`, where `metadata` is a JSON merge patch (RFC 7396): what is left out stays, and null removes a key, all metadata, the event time, or the time at which the memory expires.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              },
              "Idempotent-Replayed": {
                "$ref": "#/components/headers/Idempotent-Replayed"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/UpdateMemoryResponse"
                },
                "example": {
                  "memory": {
                    "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                    "text": "The cat sleeps on the warm radiator.",
                    "metadata": {
                      "source": "chat",
                      "turn": 8
                    },
                    "tokens": 8,
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                    "updated_at": "2026-11-21T09:30:00.123Z"
                  },
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "404": {
            "$ref": "#/components/responses/Error404-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "409": {
            "$ref": "#/components/responses/Error409-3"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "parameters": [
          {
            "name": "Idempotency-Key",
            "in": "header",
            "description": "Calls with the same key and the same request store once within 24 hours.",
            "schema": {
              "type": "string",
              "minLength": 1,
              "maxLength": 255
            }
          }
        ],
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/UpdateMemoryRequest"
              },
              "example": {
                "namespace": "pets",
                "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                "metadata": {
                  "turn": 8
                },
                "update_mask": "metadata.turn"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/DeleteMemory": {
      "post": {
        "operationId": "MemoryService_DeleteMemory",
        "tags": [
          "MemoryService"
        ],
        "summary": "Forgets one memory",
        "description": "Once answered, its text, metadata and vector are out of the database and of the index, and no later Recall, on any replica, returns it. Costs nothing.\n\nAlso served as `DELETE /namespaces/{namespace}/memories/{id}`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteMemoryResponse"
                },
                "example": {
                  "id": "mem_01kafz3v2wes8vptq3jbm5yr4x"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "404": {
            "$ref": "#/components/responses/Error404-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/DeleteMemoryRequest"
              },
              "example": {
                "namespace": "pets",
                "id": "mem_01kafz3v2wes8vptq3jbm5yr4x"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/DeleteMemories": {
      "post": {
        "operationId": "MemoryService_DeleteMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "Forgets up to 256 memories by their ids or by a filter, each like DeleteMemory",
        "description": "Ids that no memory has are no error. Costs nothing.\n\nAlso served as `POST /namespaces/{namespace}/memories/delete`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteMemoriesResponse"
                },
                "example": {
                  "deleted": 1,
                  "more": false,
                  "samples": [],
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-3"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/DeleteMemoriesRequest"
              },
              "example": {
                "namespace": "pets",
                "ids": [
                  "mem_01kafz3v2wes8vptq3jbm5yr4x"
                ]
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/UpdateMemories": {
      "post": {
        "operationId": "MemoryService_UpdateMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "Changes the metadata of up to 256 memories, by their ids or by a filter: merges some into that of each, and removes paths",
        "description": "Texts stay as they are. A memory whose metadata is so already is not written, so that the same request may be sent twice. Costs nothing; what it writes takes of the key's rate.\n\nAlso served as `POST /namespaces/{namespace}/memories/update`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/UpdateMemoriesResponse"
                },
                "example": {
                  "updated": 1,
                  "unchanged": 0,
                  "failed": [],
                  "next_page_token": "",
                  "samples": [],
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-3"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/UpdateMemoriesRequest"
              },
              "example": {
                "namespace": "pets",
                "ids": [
                  "mem_01kafz3v2wes8vptq3jbm5yr4x"
                ],
                "metadata": {
                  "turn": 8
                },
                "remove": [
                  "source"
                ]
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/DeleteNamespace": {
      "post": {
        "operationId": "MemoryService_DeleteNamespace",
        "tags": [
          "MemoryService"
        ],
        "summary": "Drops a namespace and erases all of it; the name is free again",
        "description": "Costs nothing.\n\nAlso served as `DELETE /namespaces/{namespace}`, `?force=true`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteNamespaceResponse"
                },
                "example": {
                  "deleted": 1
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-4"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "404": {
            "$ref": "#/components/responses/Error404-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/DeleteNamespaceRequest"
              },
              "example": {
                "namespace": "pets",
                "force": true
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/DeleteNamespaces": {
      "post": {
        "operationId": "MemoryService_DeleteNamespaces",
        "tags": [
          "MemoryService"
        ],
        "summary": "Drops the namespaces whose names begin with a prefix, such as all of one user, each like DeleteNamespace, up to 100 a call",
        "description": "A key that is for one namespace drops that one alone. Costs nothing.\n\nAlso served as `POST /namespaces/delete`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/DeleteNamespacesResponse"
                },
                "example": {
                  "deleted": 0,
                  "more": false,
                  "namespaces": [
                    "user-42/notes"
                  ],
                  "memories": 1,
                  "matched": 1
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/DeleteNamespacesRequest"
              },
              "example": {
                "prefix": "user-42/",
                "dry_run": true
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/ListNamespaces": {
      "post": {
        "operationId": "MemoryService_ListNamespaces",
        "tags": [
          "MemoryService"
        ],
        "summary": "The account's namespaces, page by page",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListNamespacesResponse"
                },
                "example": {
                  "namespaces": [
                    {
                      "namespace": "pets",
                      "memories": 1,
                      "bytes": "62"
                    }
                  ],
                  "next_page_token": ""
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/ListNamespacesRequest"
              },
              "example": {
                "page_size": 50
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/GetNamespace": {
      "post": {
        "operationId": "MemoryService_GetNamespace",
        "tags": [
          "MemoryService"
        ],
        "summary": "What one namespace holds, and when it was stored",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetNamespaceResponse"
                },
                "example": {
                  "namespace": {
                    "namespace": "pets",
                    "memories": 1,
                    "bytes": "62"
                  },
                  "first": "2026-11-21T09:30:00.123Z",
                  "last": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-2"
          },
          "404": {
            "$ref": "#/components/responses/Error404-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/GetNamespaceRequest"
              },
              "example": {
                "namespace": "pets"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/ListMemories": {
      "post": {
        "operationId": "MemoryService_ListMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "A namespace's memories, the newest or the oldest first by when they were stored or by when they happened, page by page",
        "description": "Costs nothing.\n\nAlso served as `GET /namespaces/{namespace}/memories`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListMemoriesResponse"
                },
                "example": {
                  "memories": [
                    {
                      "id": "mem_01kafz3v2wes8vptq3jbm5yr4x",
                      "text": "The cat sleeps on the warm radiator.",
                      "metadata": {
                        "source": "chat",
                        "turn": 7
                      },
                      "tokens": 8,
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "etag": "\"sQ1bHkTDIyhT4Qx7\"",
                      "updated_at": "2026-11-21T09:30:00.123Z"
                    }
                  ],
                  "namespace": "pets",
                  "next_page_token": ""
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-3"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/ListMemoriesRequest"
              },
              "example": {
                "namespace": "pets",
                "page_size": 50
              }
            }
          }
        }
      }
    },
    "/recalld.v1.MemoryService/CountMemories": {
      "post": {
        "operationId": "MemoryService_CountMemories",
        "tags": [
          "MemoryService"
        ],
        "summary": "How many memories a namespace holds, or how many of them match a filter",
        "description": "Costs nothing.\n\nAlso served as `POST /namespaces/{namespace}/memories/count`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CountMemoriesResponse"
                },
                "example": {
                  "memories": 1,
                  "namespace": "pets"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-2"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-3"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/CountMemoriesRequest"
              },
              "example": {
                "namespace": "pets"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/SignUp": {
      "post": {
        "operationId": "AccountService_SignUp",
        "tags": [
          "AccountService"
        ],
        "summary": "Opens an account on the free plan and returns its API key, this once: only a hash of it is kept",
        "description": "Needs no key.\n\nAlso served as `POST /signup`.",
        "security": [],
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/SignUpResponse"
                },
                "example": {
                  "account_id": "acc_01kafz2n7teh5b9cxq4w0m8dks",
                  "api_key": "rcl_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE",
                  "plan": "free",
                  "calls_limit": 1000,
                  "calls_used": 0
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-5"
          },
          "403": {
            "$ref": "#/components/responses/Error403-3"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-4"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/SignUpRequest"
              },
              "example": {
                "email": "ada@example.org"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/GetAccount": {
      "post": {
        "operationId": "AccountService_GetAccount",
        "tags": [
          "AccountService"
        ],
        "summary": "The caller's own account",
        "description": "Costs nothing.\n\nAlso served as `GET /account`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetAccountResponse"
                },
                "example": {
                  "account_id": "acc_01kafz2n7teh5b9cxq4w0m8dks",
                  "email": "ada@example.org",
                  "plan": "free",
                  "calls_limit": 1000,
                  "calls_used": 0,
                  "created_at": "2026-11-21T09:30:00.123Z",
                  "key": {
                    "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                    "name": "laptop",
                    "prefix": "rcl_EXAM",
                    "access": "KEY_ACCESS_FULL",
                    "namespace": "",
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "replaces": "",
                    "current": true,
                    "sessions": [],
                    "client": ""
                  },
                  "model": {
                    "id": "bundled",
                    "languages": [
                      "en"
                    ],
                    "strong_score": 0.8
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/GetAccountRequest"
              },
              "example": {}
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/GetUsage": {
      "post": {
        "operationId": "AccountService_GetUsage",
        "tags": [
          "AccountService"
        ],
        "summary": "What the account used, day by day, and which keys and namespaces used it",
        "description": "Costs nothing.\n\nAlso served as `GET /usage`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/GetUsageResponse"
                },
                "example": {
                  "days": [
                    {
                      "date": "2026-11-21",
                      "stores": 1,
                      "recalls": 2,
                      "tokens_stored": 8,
                      "tokens_queried": 12,
                      "hours": [
                        {
                          "hour": 9,
                          "stores": 1,
                          "recalls": 2,
                          "tokens_stored": 8,
                          "tokens_queried": 12
                        }
                      ]
                    }
                  ],
                  "keys": [
                    {
                      "key_id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                      "stores": 1,
                      "recalls": 2,
                      "tokens_stored": 8,
                      "tokens_queried": 12
                    }
                  ],
                  "namespaces": [
                    {
                      "namespace": "pets",
                      "stores": 1,
                      "recalls": 2,
                      "tokens_stored": 8,
                      "tokens_queried": 12
                    }
                  ],
                  "since": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/GetUsageRequest"
              },
              "example": {
                "days": 1
              }
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/ListRecentCalls": {
      "post": {
        "operationId": "AccountService_ListRecentCalls",
        "tags": [
          "AccountService"
        ],
        "summary": "The last calls by the account's keys, the newest first, without any texts: 10,000 of the last 30 days, unless the operator sets other limits",
        "description": "Every replica gives the same answer within a second. A key for one namespace sees its own calls alone. Calls of this method, and those that the portal makes for a browser, are not listed. Costs nothing.\n\nAlso served as `GET /calls`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListRecentCallsResponse"
                },
                "example": {
                  "calls": [
                    {
                      "start_time": "2026-11-21T09:30:00.123Z",
                      "method": "recalld.v1.MemoryService/Recall",
                      "protocol": "json",
                      "key_id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                      "code": "resource_exhausted",
                      "duration_ms": 0.42,
                      "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                      "namespace": "pets",
                      "message": "all 1,000 calls of this account's plan are used"
                    }
                  ],
                  "next_page_token": "",
                  "since": "2026-11-21T09:30:00.123Z"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-2"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/ListRecentCallsRequest"
              },
              "example": {
                "page_size": 50,
                "errors_only": true,
                "method": "Recall"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/CreateKey": {
      "post": {
        "operationId": "AccountService_CreateKey",
        "tags": [
          "AccountService"
        ],
        "summary": "Makes another key and returns it, this once",
        "description": "Costs nothing.\n\nWith `replaces` it is a rotation without downtime: the old key works until the new one is first used, and then for `grace_seconds` more.\n\nAlso served as `POST /keys`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CreateKeyResponse"
                },
                "example": {
                  "api_key": "rcl_EXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLEEXAMPLE",
                  "key": {
                    "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                    "name": "laptop",
                    "prefix": "rcl_EXAM",
                    "access": "KEY_ACCESS_FULL",
                    "namespace": "",
                    "created_at": "2026-11-21T09:30:00.123Z",
                    "replaces": "",
                    "current": false,
                    "sessions": [],
                    "client": ""
                  }
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-6"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-4"
          },
          "404": {
            "$ref": "#/components/responses/Error404-3"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/CreateKeyRequest"
              },
              "example": {
                "name": "laptop",
                "access": "KEY_ACCESS_FULL"
              }
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/ListKeys": {
      "post": {
        "operationId": "AccountService_ListKeys",
        "tags": [
          "AccountService"
        ],
        "summary": "The account's living keys, without their secrets",
        "description": "Costs nothing.\n\nAlso served as `GET /keys`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/ListKeysResponse"
                },
                "example": {
                  "keys": [
                    {
                      "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                      "name": "laptop",
                      "prefix": "rcl_EXAM",
                      "access": "KEY_ACCESS_FULL",
                      "namespace": "",
                      "created_at": "2026-11-21T09:30:00.123Z",
                      "replaces": "",
                      "current": true,
                      "sessions": [],
                      "client": ""
                    }
                  ]
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-4"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/ListKeysRequest"
              },
              "example": {}
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/RevokeKey": {
      "post": {
        "operationId": "AccountService_RevokeKey",
        "tags": [
          "AccountService"
        ],
        "summary": "Revokes a key and its sessions, or one session: they are refused from now on, on every replica",
        "description": "The account's last key needs `force`, for nobody gets in afterwards. Costs nothing.\n\nAlso served as `DELETE /keys/{id}`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/RevokeKeyResponse"
                },
                "example": {
                  "id": "key_01kafz3v2wes8vptq3jbm5yr4x"
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-7"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-4"
          },
          "404": {
            "$ref": "#/components/responses/Error404-3"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/RevokeKeyRequest"
              },
              "example": {
                "id": "key_01kafz3v2wes8vptq3jbm5yr4x",
                "force": false
              }
            }
          }
        }
      }
    },
    "/recalld.v1.AccountService/CloseAccount": {
      "post": {
        "operationId": "AccountService_CloseAccount",
        "tags": [
          "AccountService"
        ],
        "summary": "Closes the account: all its keys are revoked and all its memories erased",
        "description": "Costs nothing, and cannot be undone.\n\nAlso served as `DELETE /account`.",
        "responses": {
          "200": {
            "description": "It is done.",
            "headers": {
              "X-Request-ID": {
                "$ref": "#/components/headers/X-Request-ID"
              },
              "RateLimit-Policy": {
                "$ref": "#/components/headers/RateLimit-Policy"
              },
              "RateLimit": {
                "$ref": "#/components/headers/RateLimit"
              }
            },
            "content": {
              "application/json": {
                "schema": {
                  "$ref": "#/components/schemas/CloseAccountResponse"
                },
                "example": {
                  "deleted": 1
                }
              }
            }
          },
          "400": {
            "$ref": "#/components/responses/Error400-3"
          },
          "401": {
            "$ref": "#/components/responses/Error401"
          },
          "403": {
            "$ref": "#/components/responses/Error403-4"
          },
          "405": {
            "$ref": "#/components/responses/Error405"
          },
          "415": {
            "$ref": "#/components/responses/Error415"
          },
          "429": {
            "$ref": "#/components/responses/Error429-2"
          },
          "500": {
            "$ref": "#/components/responses/Error500"
          },
          "503": {
            "$ref": "#/components/responses/Error503-3"
          },
          "504": {
            "$ref": "#/components/responses/Error504"
          }
        },
        "requestBody": {
          "required": true,
          "content": {
            "application/json": {
              "schema": {
                "$ref": "#/components/schemas/CloseAccountRequest"
              },
              "example": {
                "account_id": "acc_01kafz2n7teh5b9cxq4w0m8dks"
              }
            }
          }
        }
      }
    },
    "/livez": {
      "get": {
        "operationId": "livez",
        "summary": "Whether the process can go on",
        "security": [],
        "responses": {
          "200": {
            "description": "ok",
            "content": {
              "application/json": {
                "schema": {
                  "type": "object",
                  "required": [
                    "status"
                  ],
                  "properties": {
                    "status": {
                      "type": "string"
                    }
                  }
                },
                "example": {
                  "status": "ok"
                }
              }
            }
          },
          "503": {
            "description": "not ok",
            "content": {
              "application/json": {
                "schema": {
                  "type": "object",
                  "required": [
                    "status"
                  ],
                  "properties": {
                    "status": {
                      "type": "string"
                    }
                  }
                },
                "example": {
                  "status": "not ok"
                }
              }
            }
          }
        }
      }
    },
    "/readyz": {
      "get": {
        "operationId": "readyz",
        "summary": "Whether calls can be answered now",
        "security": [],
        "responses": {
          "200": {
            "description": "ready",
            "content": {
              "application/json": {
                "schema": {
                  "type": "object",
                  "required": [
                    "status"
                  ],
                  "properties": {
                    "status": {
                      "type": "string"
                    }
                  }
                },
                "example": {
                  "status": "ready"
                }
              }
            }
          },
          "503": {
            "description": "not ready",
            "content": {
              "application/json": {
                "schema": {
                  "type": "object",
                  "required": [
                    "status"
                  ],
                  "properties": {
                    "status": {
                      "type": "string"
                    }
                  }
                },
                "example": {
                  "status": "not ready"
                }
              }
            }
          }
        }
      }
    }
  },
  "components": {
    "securitySchemes": {
      "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "The API key, `rcl_…`."
      },
      "apiKey": {
        "type": "apiKey",
        "in": "header",
        "name": "X-API-Key",
        "description": "The same key."
      }
    },
    "schemas": {
      "StoreRequest": {
        "type": "object",
        "properties": {
          "text": {
            "type": "string",
            "description": "What to remember: not blank, at most 65,536 bytes of UTF-8. A text that is longer than the model reads at once is read in overlapping windows, and found by the nearest of them.",
            "minLength": 1,
            "maxLength": 65536,
            "x-max-bytes": 65536,
            "pattern": "[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
          },
          "namespace": {
            "type": "string",
            "description": "Where: 1 to 256 bytes of UTF-8 without control characters, and without a space at either end. Names are compared byte by byte and belong to the account: two accounts may use the same name and never see each other.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "metadata": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Anything to hand back with the memory, and what filters look at: at most 16,384 bytes as JSON, 16 levels deep, finite numbers. Numbers are doubles: an integer that would come back with other digits, and -0, are refused."
          },
          "external_id": {
            "type": [
              "string",
              "null"
            ],
            "description": "Your own id for the memory: up to 256 bytes of UTF-8 without control characters, unique among the memories of its namespace. Empty means none.",
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
          },
          "on_conflict": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnConflict"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if a memory has the external id already. Left out, it is REFUSE."
          },
          "expire_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "A time in the future, up to the end of the year 9999; milliseconds count."
          },
          "ttl": {
            "type": [
              "string",
              "null"
            ],
            "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$",
            "description": "How long from now; in JSON a string like \"3600s\"."
          },
          "supersedes": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string"
            },
            "description": "Ids of up to 16 memories of the namespace that this one corrects. They are hidden from Recall and ListMemories unless `include_superseded` is set, and GetMemory says what superseded them. That cannot be undone: deleting this memory does not bring them back."
          },
          "similar_above": {
            "type": [
              "number",
              "null"
            ],
            "format": "double",
            "description": "Lists up to 3 memories that were there already and have at least this score for the text, from 0 to 1. Costs no second call."
          },
          "event_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "When what the text tells of happened, if that is not now: a time from the year 1 to the year 9999; milliseconds count. Filters (`$event_time`), lists and `after` and `before` of a recall compare it. Without one, a memory has the time when it was stored."
          },
          "on_secret": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnSecret"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if the text or a string of the metadata has what looks like a secret, such as a service's key, a private key, a JWT or a card number. Left out, it is what the server is set to (`ON_SECRET`)."
          },
          "on_similar": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnSimilar"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if a memory is there with at least the score `similar_above`, which must be set then; not together with `external_id`. Left out, it is STORE."
          }
        },
        "required": [
          "text",
          "namespace"
        ],
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "expire_time"
                  ],
                  "properties": {
                    "expire_time": {
                      "type": "string"
                    }
                  }
                },
                {
                  "required": [
                    "ttl"
                  ],
                  "properties": {
                    "ttl": {
                      "type": "string"
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "OnConflict": {
        "type": "string",
        "enum": [
          "ON_CONFLICT_UNSPECIFIED",
          "REFUSE",
          "REPLACE",
          "KEEP"
        ],
        "description": "What a store does if a memory has its external id.\n\n- `REFUSE`: The store fails with `already_exists`, which names the memory.\n- `REPLACE`: The memory keeps its id and gets the new text, metadata, expiry and event time.\n- `KEEP`: The memory stays as it is and is the answer, which costs nothing."
      },
      "OnSecret": {
        "type": "string",
        "enum": [
          "ON_SECRET_UNSPECIFIED",
          "STORE",
          "REDACT",
          "REFUSE"
        ],
        "description": "What a call does if its text or metadata has what looks like a secret.\n\n- `STORE`: It stores them as they are, and does not look for secrets.\n- `REDACT`: It stores `[REDACTED]` in the place of each secret; the answer tells kind and place of each. A key of the metadata cannot be redacted: such a call fails as with REFUSE.\n- `REFUSE`: It fails with `invalid_argument` and the reason SECRET_FOUND, whose details tell kind and place of each secret, and costs nothing."
      },
      "OnSimilar": {
        "type": "string",
        "enum": [
          "ON_SIMILAR_UNSPECIFIED",
          "STORE",
          "KEEP",
          "SUPERSEDE"
        ],
        "description": "What a store does if a memory that says the same is there already.\n\n- `STORE`: It stores the memory beside it.\n- `KEEP`: The most similar memory stays as it is and is the answer. It costs a call.\n- `SUPERSEDE`: It stores the memory, which supersedes the most similar one."
      },
      "StoreResponse": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id: `mem_` and 26 characters (a TypeID, sortable by time)."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          },
          "tokens": {
            "type": "integer",
            "format": "int32",
            "description": "The model's tokens of the whole text, special tokens not counted."
          },
          "created_at": {
            "type": "string",
            "format": "date-time",
            "description": "When it was stored, by the server's clock, in milliseconds' precision. A memory that was replaced or kept has the time when it was stored first."
          },
          "outcome": {
            "$ref": "#/components/schemas/Outcome",
            "description": "What happened. This, `etag` and `similar` are absent unless the request had any of `external_id`, `expire_time`, `ttl`, `supersedes` or `similar_above`."
          },
          "etag": {
            "type": "string",
            "description": "Names this version of the memory; UpdateMemory takes it."
          },
          "similar": {
            "$ref": "#/components/schemas/Similar",
            "description": "The memories that are most like the text, if `similar_above` was set."
          },
          "unread_share": {
            "type": "number",
            "format": "double",
            "description": "The share of the text's letters and emoji in scripts that the model hardly knows, above 0.5 and up to 1; absent if it is less. The model may take any two such texts for alike: recall them by their words (`HYBRID`), or choose a model that reads their language."
          },
          "redacted": {
            "$ref": "#/components/schemas/Redacted",
            "description": "What was redacted, because `on_secret` or the server asks for it. Absent if nothing was."
          }
        },
        "required": [
          "id",
          "namespace",
          "tokens",
          "created_at"
        ]
      },
      "Outcome": {
        "type": "string",
        "enum": [
          "OUTCOME_UNSPECIFIED",
          "CREATED",
          "REPLACED",
          "KEPT"
        ],
        "description": "What a store did.\n\n- `CREATED`: It made a new memory.\n- `REPLACED`: It made a new version of the memory with the external id.\n- `KEPT`: The memory with the external id stays as it is, or the similar one of `on_similar`."
      },
      "Similar": {
        "description": "Memories that are like a text that was stored.",
        "type": "object",
        "properties": {
          "memories": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/SimilarMemory"
            },
            "description": "At most 3, the most similar first."
          }
        },
        "required": [
          "memories"
        ]
      },
      "SimilarMemory": {
        "description": "A memory that was there before a text like it was stored.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id."
          },
          "text": {
            "type": "string",
            "description": "The text, exactly as it was stored."
          },
          "score": {
            "type": "number",
            "format": "double",
            "description": "The cosine of the two, from 0 to 1."
          }
        },
        "required": [
          "id",
          "text",
          "score"
        ]
      },
      "Redacted": {
        "description": "What was redacted in a text and its metadata.",
        "type": "object",
        "properties": {
          "secrets": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/FoundSecret"
            },
            "description": "The first 8."
          },
          "count": {
            "type": "integer",
            "format": "int32",
            "description": "How many they are in all."
          }
        },
        "required": [
          "secrets",
          "count"
        ]
      },
      "FoundSecret": {
        "description": "Kind and place of what looks like a secret.",
        "type": "object",
        "properties": {
          "kind": {
            "type": "string",
            "description": "What it looks like: `github_token`, `card_number`."
          },
          "field": {
            "type": "string",
            "description": "Where it stands: `text`, or a path such as `metadata.notes[0].login`. A path of more than 100 characters is cut."
          },
          "start": {
            "type": "integer",
            "format": "int32",
            "description": "Its first code point in that string, as it was sent."
          },
          "end": {
            "type": "integer",
            "format": "int32",
            "description": "Behind its last code point."
          }
        },
        "required": [
          "kind",
          "field",
          "start",
          "end"
        ]
      },
      "StoreBatchRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "Where, as for Store; the same for all.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "memories": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/StoreItem"
            },
            "description": "What to remember: 1 to 256 memories. The body of the call may have 8,388,608 bytes.",
            "minItems": 1,
            "maxItems": 256
          }
        },
        "required": [
          "namespace",
          "memories"
        ],
        "additionalProperties": false
      },
      "StoreItem": {
        "description": "One memory of a batch.",
        "type": "object",
        "properties": {
          "text": {
            "type": "string",
            "description": "What to remember, as for Store.",
            "minLength": 1,
            "maxLength": 65536,
            "x-max-bytes": 65536,
            "pattern": "[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
          },
          "metadata": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Anything to hand back with the memory, as for Store."
          },
          "external_id": {
            "type": [
              "string",
              "null"
            ],
            "description": "Your own id for the memory, as for Store.",
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
          },
          "on_conflict": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnConflict"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if a memory has the external id already, as for Store; also one that stands before this one in the batch."
          },
          "expire_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "A time in the future."
          },
          "ttl": {
            "type": [
              "string",
              "null"
            ],
            "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$",
            "description": "How long from now."
          },
          "supersedes": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string"
            },
            "description": "Ids of up to 16 memories of the namespace that this one corrects, as for Store."
          },
          "event_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "When what the text tells of happened, as for Store."
          },
          "on_secret": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnSecret"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if it has what looks like a secret, as for Store. With REFUSE the batch fails."
          }
        },
        "required": [
          "text"
        ],
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "expire_time"
                  ],
                  "properties": {
                    "expire_time": {
                      "type": "string"
                    }
                  }
                },
                {
                  "required": [
                    "ttl"
                  ],
                  "properties": {
                    "ttl": {
                      "type": "string"
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "StoreBatchResponse": {
        "type": "object",
        "properties": {
          "results": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/StoreBatchResult"
            },
            "description": "A result for each memory, in the order of the request."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          }
        },
        "required": [
          "results",
          "namespace"
        ]
      },
      "StoreBatchResult": {
        "description": "What became of one memory of a batch.",
        "type": "object",
        "properties": {
          "stored": {
            "$ref": "#/components/schemas/StoredItem",
            "description": "The memory was stored."
          },
          "error": {
            "$ref": "#/components/schemas/Problem",
            "description": "The memory was not stored, and costs nothing. After `unavailable` it may be stored all the same, as with Store."
          }
        }
      },
      "StoredItem": {
        "description": "A memory that was stored.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id."
          },
          "tokens": {
            "type": "integer",
            "format": "int32",
            "description": "The model's tokens of the whole text, special tokens not counted."
          },
          "created_at": {
            "type": "string",
            "format": "date-time",
            "description": "When it was stored, as for Store."
          },
          "outcome": {
            "$ref": "#/components/schemas/Outcome",
            "description": "What happened. This and the etag are absent unless the memory of the request had any of `external_id`, `expire_time`, `ttl` or `supersedes`."
          },
          "etag": {
            "type": "string",
            "description": "Names this version of the memory; UpdateMemory takes it."
          },
          "unread_share": {
            "type": "number",
            "format": "double",
            "description": "The share of the text that the model can hardly read, as for Store."
          },
          "redacted": {
            "$ref": "#/components/schemas/Redacted",
            "description": "What was redacted, as for Store."
          }
        },
        "required": [
          "id",
          "tokens",
          "created_at"
        ]
      },
      "Problem": {
        "description": "Why one part of a call failed while others did not.",
        "type": "object",
        "properties": {
          "code": {
            "type": "string",
            "description": "The error's name, as in errors in JSON: `unavailable`."
          },
          "message": {
            "type": "string",
            "description": "What to fix, in plain words."
          },
          "reason": {
            "type": "string",
            "description": "A constant that programs can branch on; empty if the error has none."
          }
        },
        "required": [
          "code",
          "message",
          "reason"
        ]
      },
      "RecallRequest": {
        "type": "object",
        "properties": {
          "query": {
            "type": [
              "string",
              "null"
            ],
            "description": "The question, in plain words: not blank, at most 65,536 bytes of UTF-8. A long one is read in windows, like a text. A recall has exactly one of `query`, `queries` and `like_id`.",
            "maxLength": 65536,
            "x-max-bytes": 65536,
            "pattern": "[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
          },
          "namespace": {
            "type": "string",
            "description": "The namespace to search.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "top_k": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many memories to return at most: 1 to 20, 5 when left out. A server may allow up to 200 (`TOP_K_MAX`).",
            "minimum": 1,
            "maximum": 200
          },
          "mode": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/Mode"
              },
              {
                "type": "null"
              }
            ],
            "description": "What the results are ordered by. Left out, it is what the server is set to (`RECALL_MODE`): by meaning alone, unless the operator says otherwise."
          },
          "explain": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Whether each result says why it stands where it does."
          },
          "min_score": {
            "type": [
              "number",
              "null"
            ],
            "format": "double",
            "description": "The lowest score that a result may have, from 0 to 1. The others are left out, and the order of the rest stays as it is.",
            "minimum": 0,
            "maximum": 1
          },
          "filter": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Which memories may be found: a filter in the language that docs/filters.md describes, such as `{\"source\": \"mail\", \"year\": {\"$gte\": 2024}}`. All when left out or empty."
          },
          "include_superseded": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Whether memories that others superseded are results, too."
          },
          "after": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "Only memories of what happened after this time: `$event_time` is greater, which is when a memory was stored, unless it has an event time of its own."
          },
          "before": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "Only memories of what happened before this time: `$event_time` is less."
          },
          "fields": {
            "type": [
              "string",
              "null"
            ],
            "description": "The fields of the results that are sent: `\"id,score\"`. All of them when left out; `id` in any case.",
            "pattern": "^(id|text|score|metadata|created_?[aA]t|match|words|explanation|etag|updated_?[aA]t|external_?[iI]d|superseded_?[bB]y|expire_?[tT]ime|event_?[tT]ime|before|after|namespace|query_?[iI]ndex)(,(id|text|score|metadata|created_?[aA]t|match|words|explanation|etag|updated_?[aA]t|external_?[iI]d|superseded_?[bB]y|expire_?[tT]ime|event_?[tT]ime|before|after|namespace|query_?[iI]ndex))*$"
          },
          "min_fit": {
            "type": [
              "number",
              "null"
            ],
            "format": "double",
            "description": "The lowest fit that a result may have, from 0 to 1.5; only with `HYBRID`. The fit is the score and half the share of the query's words, whatever else is stored. 0.4 leaves out much of what has nothing to do with the query.",
            "minimum": 0,
            "maximum": 1.5
          },
          "recency": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/Recency"
              },
              {
                "type": "null"
              }
            ],
            "description": "Lets newer memories stand higher. It leaves none out, and `min_score` and `min_fit` do not count it. Left out, age does not matter."
          },
          "max_tokens": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many tokens the texts of the results may have together, as `tokens` of a memory counts them. The results end where the next text would pass it; there is at least one result, if any is found.",
            "minimum": 1
          },
          "queries": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string"
            },
            "description": "Up to 8 questions in place of `query`. The answer has the best results of all of them, each memory once. Each question costs one call.",
            "maxItems": 8
          },
          "like_id": {
            "type": [
              "string",
              "null"
            ],
            "description": "The id of a memory of `namespace`, in place of `query`: the results are those most like it, without itself. Its stored vectors are compared, so nothing is embedded; of a long text, 64 of its windows."
          },
          "also_in": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string"
            },
            "description": "Up to 7 other namespaces to search as well. The answer has the best results of all in one order, and each names its namespace. A query is embedded and paid once, whatever their number. The key must be allowed to read all of them. With `HYBRID`, words count as the statistics of each namespace say.",
            "maxItems": 7
          },
          "neighbors": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/Neighbors"
              },
              {
                "type": "null"
              }
            ],
            "description": "The memories that were created just before and after each result in its namespace are sent with it."
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false
      },
      "Mode": {
        "type": "string",
        "enum": [
          "MODE_UNSPECIFIED",
          "COSINE",
          "HYBRID"
        ],
        "description": "What results are ordered by.\n\n- `COSINE`: The score alone: meaning.\n- `HYBRID`: Meaning and words together. The words count more, the less the best memory stands out by its meaning. Results are not in the order of their scores."
      },
      "Recency": {
        "description": "How much the age of a memory counts: `weight * 2^(-age / half_life)` is added to what results are ordered by. The age is the time from `$event_time` to `reference_time`, and 0 for what happens later. In a namespace of up to about 20,000 vectors all memories are compared so, in a larger one the 200 that are nearest to the query, and with `HYBRID` the 200 whose words fit best.",
        "type": "object",
        "properties": {
          "half_life": {
            "type": "string",
            "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$",
            "description": "The time in which what is added falls to a half: more than 0. In JSON a string like \"2592000s\", which is 30 days."
          },
          "weight": {
            "type": "number",
            "format": "double",
            "description": "What is added for a memory of the age 0, from 0 to 0.5.",
            "minimum": 0,
            "maximum": 0.5
          },
          "reference_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "The time at which the age is 0, from the year 1 to the year 9999; now, if left out."
          }
        },
        "required": [
          "half_life",
          "weight"
        ],
        "additionalProperties": false
      },
      "Neighbors": {
        "description": "Which memories are sent with each result of a recall, because they were created just before or after it: by `created_at`, and then by id. At least one of the two numbers is above 0. The filter of the recall does not count.",
        "type": "object",
        "properties": {
          "before": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many that were created before it: 0 to 5.",
            "minimum": 0,
            "maximum": 5
          },
          "after": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many that were created after it: 0 to 5.",
            "minimum": 0,
            "maximum": 5
          },
          "same": {
            "type": [
              "string",
              "null"
            ],
            "description": "A path in the metadata, as in a filter, such as `session`: memories with another value there are skipped. Empty means that none are.",
            "maxLength": 512,
            "x-max-bytes": 512
          }
        },
        "additionalProperties": false
      },
      "RecallResponse": {
        "type": "object",
        "properties": {
          "results": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/RecallResult"
            },
            "description": "Best first. Unless `min_score` or `min_fit` asks for it, none is dropped for a low score: there are fewer than `top_k` only when the namespace holds fewer, or fewer match the filter."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          },
          "query_tokens": {
            "type": "integer",
            "format": "int32",
            "description": "The model's tokens of the whole query, special tokens not counted; of all `queries` together; 0 for `like_id`."
          },
          "considered": {
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "description": "How many memories were considered: all that CountMemories counts. Only in an answer that is empty because of `min_score`, `min_fit`, a filter, `after` or `before`, or because the namespace does not exist: then it is 0, so that a mistyped name is noticed. With `also_in`, it is the sum of all."
          },
          "omitted": {
            "$ref": "#/components/schemas/OmittedMemories",
            "description": "What `min_fit` has left out; only if the request asks for reasons (`explain`)."
          },
          "shortened": {
            "type": "boolean",
            "description": "True if more was found than the answer has room for: because of `max_tokens`, or because texts and metadata have reached 1,638,400 bytes. Absent otherwise."
          }
        },
        "required": [
          "results",
          "namespace",
          "query_tokens"
        ]
      },
      "RecallResult": {
        "description": "One recalled memory. A field that the request's `fields` does not name is absent, and JSON then has `\"\"` for `text` and 0 for `score`.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id."
          },
          "text": {
            "type": "string",
            "description": "The text, exactly as it was stored."
          },
          "score": {
            "type": "number",
            "format": "double",
            "description": "The cosine of the stored vector and the query, from 0 (nothing in common) to 1 (the same). With the bundled model above 0.80 is a strong match; of other models GetAccount may tell it (`model.strong_score`). Of a long text it is that of the window nearest to the query."
          },
          "metadata": {
            "type": "object",
            "additionalProperties": true,
            "description": "The metadata as it was stored; an empty object when there was none."
          },
          "created_at": {
            "type": "string",
            "format": "date-time",
            "description": "When it was stored."
          },
          "match": {
            "$ref": "#/components/schemas/Match",
            "description": "The part of the text that the score is of: all of it, unless the text is longer than the model reads at once."
          },
          "words": {
            "type": "number",
            "format": "double",
            "description": "The share of the query's words that the text has, from 0 to 1; rare words count more. Only with `HYBRID`."
          },
          "explanation": {
            "$ref": "#/components/schemas/Explanation",
            "description": "Why the result stands where it does; only if the request asks for it."
          },
          "etag": {
            "type": "string",
            "description": "Names this version of the memory. This and the fields below are absent unless the request has `min_score`, `min_fit`, `filter`, `after`, `before`, `include_superseded` or `fields`."
          },
          "updated_at": {
            "type": "string",
            "format": "date-time",
            "description": "When its text, metadata, expiry or event time was changed last."
          },
          "external_id": {
            "type": "string",
            "description": "Your own id for it, if it has one."
          },
          "superseded_by": {
            "type": "string",
            "description": "The id of the memory that superseded it, if one did."
          },
          "expire_time": {
            "type": "string",
            "format": "date-time",
            "description": "When it expires, if it does."
          },
          "event_time": {
            "type": "string",
            "format": "date-time",
            "description": "When what it tells of happened, if it was stored with an event time; in any recall."
          },
          "before": {
            "$ref": "#/components/schemas/NeighborMemories",
            "description": "The memories created just before it. Only with `neighbors`."
          },
          "after": {
            "$ref": "#/components/schemas/NeighborMemories",
            "description": "The memories created just after it. Only with `neighbors`."
          },
          "namespace": {
            "type": "string",
            "description": "Its namespace. Only with `also_in`."
          },
          "query_index": {
            "type": "integer",
            "format": "int32",
            "description": "Which of `queries` it fits best, counted from 0. Only with `queries`."
          }
        },
        "required": [
          "id",
          "text",
          "score"
        ]
      },
      "Match": {
        "description": "A part of a text, counted in Unicode code points: neither in bytes nor in UTF-16 units. In Python it is `text[start:end]`.",
        "type": "object",
        "properties": {
          "start": {
            "type": "integer",
            "format": "int32"
          },
          "end": {
            "type": "integer",
            "format": "int32",
            "description": "Behind its last code point."
          }
        },
        "required": [
          "start",
          "end"
        ]
      },
      "Explanation": {
        "description": "Why a result stands where it does.",
        "type": "object",
        "properties": {
          "rank": {
            "type": "number",
            "format": "double",
            "description": "What results are ordered by, the highest first: the score, `weight` times the share of the query's words, and `recency`."
          },
          "weight": {
            "type": "number",
            "format": "double",
            "description": "What the words counted for in this recall, from 0 to 1; 0 when results are ordered by meaning alone."
          },
          "matched": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The words of the query that the text has, in lower case and in the order of the query."
          },
          "fit": {
            "type": "number",
            "format": "double",
            "description": "The score and half the share of the query's words, which `min_fit` is compared with. Only with `HYBRID`."
          },
          "recency": {
            "type": "number",
            "format": "double",
            "description": "What the memory's age adds to the rank. Only if the request has `recency`."
          }
        },
        "required": [
          "rank",
          "weight",
          "matched"
        ]
      },
      "NeighborMemories": {
        "description": "Memories created just before or after a result.",
        "type": "object",
        "properties": {
          "memories": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Memory"
            },
            "description": "The oldest first."
          }
        },
        "required": [
          "memories"
        ]
      },
      "Memory": {
        "description": "One memory, without a score.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id."
          },
          "text": {
            "type": "string",
            "description": "The text, exactly as it was stored."
          },
          "metadata": {
            "type": "object",
            "additionalProperties": true,
            "description": "The metadata as it was stored; an empty object when there was none."
          },
          "tokens": {
            "type": "integer",
            "format": "int32",
            "description": "The model's tokens of the whole text, special tokens not counted."
          },
          "created_at": {
            "type": "string",
            "format": "date-time",
            "description": "When it was stored."
          },
          "etag": {
            "type": "string",
            "description": "Names this version of the memory: another version has another etag."
          },
          "updated_at": {
            "type": "string",
            "format": "date-time",
            "description": "When its text, metadata, expiry or event time was changed last; when it was stored, if never."
          },
          "external_id": {
            "type": "string",
            "description": "Your own id for it, if it has one."
          },
          "superseded_by": {
            "type": "string",
            "description": "The id of the memory that superseded it, if one did."
          },
          "expire_time": {
            "type": "string",
            "format": "date-time",
            "description": "When it expires, if it does."
          },
          "event_time": {
            "type": "string",
            "format": "date-time",
            "description": "When what it tells of happened, if it was stored with an event time."
          }
        },
        "required": [
          "id",
          "text",
          "metadata",
          "tokens",
          "created_at",
          "etag",
          "updated_at"
        ]
      },
      "OmittedMemories": {
        "description": "Memories that `min_fit` has left out.",
        "type": "object",
        "properties": {
          "memories": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/OmittedMemory"
            },
            "description": "Those that were among the `top_k` best, best first."
          }
        },
        "required": [
          "memories"
        ]
      },
      "OmittedMemory": {
        "description": "A memory that was left out because it fits the query too little.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id."
          },
          "score": {
            "type": "number",
            "format": "double",
            "description": "Its score, as of a result."
          },
          "words": {
            "type": "number",
            "format": "double",
            "description": "Its share of the query's words, as of a result."
          },
          "fit": {
            "type": "number",
            "format": "double",
            "description": "Less than the request's `min_fit`."
          }
        },
        "required": [
          "id",
          "score",
          "words",
          "fit"
        ]
      },
      "GetMemoryRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace the memory is in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "id": {
            "type": "string",
            "description": "The memory's id, `mem_…`.",
            "minLength": 1,
            "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
          }
        },
        "required": [
          "namespace",
          "id"
        ],
        "additionalProperties": false
      },
      "GetMemoryResponse": {
        "type": "object",
        "properties": {
          "memory": {
            "$ref": "#/components/schemas/Memory"
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          }
        },
        "required": [
          "memory",
          "namespace"
        ]
      },
      "GetMemoriesRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace the memories are in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "ids": {
            "type": "array",
            "items": {
              "type": "string",
              "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
            },
            "description": "The memories' ids, `mem_…`: 1 to 256. An id that comes twice counts once.",
            "minLength": 1,
            "minItems": 1,
            "maxItems": 256
          }
        },
        "required": [
          "namespace",
          "ids"
        ],
        "additionalProperties": false
      },
      "GetMemoriesResponse": {
        "type": "object",
        "properties": {
          "memories": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Memory"
            },
            "description": "In the order of the request. The answer ends with the memory that brings texts and metadata to 1 MiB."
          },
          "missing": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids that no memory of the namespace has."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          },
          "remaining": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The ids that this answer had no room for: ask for them again. Empty unless the memories are long."
          }
        },
        "required": [
          "memories",
          "missing",
          "namespace",
          "remaining"
        ]
      },
      "UpdateMemoryRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace the memory is in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "id": {
            "type": "string",
            "description": "The memory's id, `mem_…`.",
            "minLength": 1,
            "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
          },
          "text": {
            "type": [
              "string",
              "null"
            ],
            "description": "The new text, as for Store.",
            "maxLength": 65536,
            "x-max-bytes": 65536,
            "pattern": "[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
          },
          "metadata": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "The new metadata, or the keys that `update_mask` names."
          },
          "expire_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "A time in the future, up to the end of the year 9999."
          },
          "ttl": {
            "type": [
              "string",
              "null"
            ],
            "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$",
            "description": "How long from now; in JSON a string like \"3600s\"."
          },
          "update_mask": {
            "type": [
              "string",
              "null"
            ],
            "description": "What to update: `text`, `metadata`, `metadata.KEY` for one key, `expire_time` or `ttl`, and `event_time`. Left out, it is all that is given. Metadata, a key, the expiry and the event time are removed if they are named here and not given. In JSON it is one string, with commas between the paths."
          },
          "etag": {
            "type": [
              "string",
              "null"
            ],
            "description": "The etag that the memory must have: if it was changed since, the update is `aborted`, and nothing is done. Empty means any."
          },
          "event_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "When what the text tells of happened, as for Store."
          },
          "on_secret": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnSecret"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if the new text or metadata has what looks like a secret, as for Store."
          }
        },
        "required": [
          "namespace",
          "id"
        ],
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "expire_time"
                  ],
                  "properties": {
                    "expire_time": {
                      "type": "string"
                    }
                  }
                },
                {
                  "required": [
                    "ttl"
                  ],
                  "properties": {
                    "ttl": {
                      "type": "string"
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "UpdateMemoryResponse": {
        "type": "object",
        "properties": {
          "memory": {
            "$ref": "#/components/schemas/Memory",
            "description": "The memory as it is now."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          },
          "redacted": {
            "$ref": "#/components/schemas/Redacted",
            "description": "What was redacted, as for Store."
          }
        },
        "required": [
          "memory",
          "namespace"
        ]
      },
      "DeleteMemoryRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace the memory is in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "id": {
            "type": "string",
            "description": "The memory's id, `mem_…`.",
            "minLength": 1,
            "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
          }
        },
        "required": [
          "namespace",
          "id"
        ],
        "additionalProperties": false
      },
      "DeleteMemoryResponse": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The id of what was forgotten."
          }
        },
        "required": [
          "id"
        ]
      },
      "DeleteMemoriesRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace the memories are in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "ids": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string",
              "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
            },
            "description": "The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once.",
            "maxItems": 256
          },
          "filter": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Which memories to forget, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused."
          },
          "dry_run": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Forget nothing yet: the answer tells what the filter matches."
          },
          "include_superseded": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Whether the filter also finds memories that others superseded. It leaves them alone otherwise."
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "ids"
                  ],
                  "properties": {
                    "ids": {
                      "type": "array",
                      "minItems": 1
                    }
                  }
                },
                {
                  "required": [
                    "filter"
                  ],
                  "properties": {
                    "filter": {
                      "type": "object",
                      "minProperties": 1
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "not": {
                    "required": [
                      "ids"
                    ],
                    "properties": {
                      "ids": {
                        "type": "array",
                        "minItems": 1
                      }
                    }
                  }
                },
                {
                  "not": {
                    "required": [
                      "filter"
                    ],
                    "properties": {
                      "filter": {
                        "type": "object",
                        "minProperties": 1
                      }
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "required": [
                    "dry_run"
                  ],
                  "properties": {
                    "dry_run": {
                      "const": true
                    }
                  }
                },
                {
                  "not": {
                    "required": [
                      "filter"
                    ],
                    "properties": {
                      "filter": {
                        "type": "object"
                      }
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "DeleteMemoriesResponse": {
        "type": "object",
        "properties": {
          "deleted": {
            "type": "integer",
            "format": "int32",
            "description": "How many memories were there, and are forgotten now."
          },
          "more": {
            "type": "boolean",
            "description": "Whether others are left, because time ran out or the filter matches more: send the same request again."
          },
          "samples": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Memory"
            },
            "description": "Some of the memories that the filter matches, the oldest, up to 20. Only of a dry run."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          },
          "matched": {
            "type": "integer",
            "format": "int32",
            "description": "How many memories the filter matches. Only of a dry run."
          }
        },
        "required": [
          "deleted",
          "more",
          "samples",
          "namespace"
        ]
      },
      "UpdateMemoriesRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace the memories are in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "ids": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string",
              "pattern": "^mem_[0-7][0-9a-hjkmnp-tv-z]{25}$"
            },
            "description": "The memories' ids, `mem_…`: 1 to 256, or none if there is a filter. An id that comes twice counts once.",
            "maxItems": 256
          },
          "filter": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Which memories to update, in place of ids: a filter in the language that docs/filters.md describes. An empty one is refused; memories that others superseded match none, because they cannot be updated."
          },
          "metadata": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "What to merge into the metadata of each, as a JSON merge patch (RFC 7396): objects are merged at every depth, null removes a key, and anything else, arrays too, takes the place of what was there. It is applied after `remove`."
          },
          "remove": {
            "type": [
              "array",
              "null"
            ],
            "items": {
              "type": "string"
            },
            "description": "Paths to remove from the metadata of each, written as in filters: `a.b` is the key `b` of the object `a`. Up to 256. A path that leads nowhere is no error.",
            "maxItems": 256
          },
          "dry_run": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Update nothing yet: the answer tells what the filter matches."
          },
          "page_token": {
            "type": [
              "string",
              "null"
            ],
            "description": "`next_page_token` of the answer before; left out at first. The other fields stay as they were."
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "ids"
                  ],
                  "properties": {
                    "ids": {
                      "type": "array",
                      "minItems": 1
                    }
                  }
                },
                {
                  "required": [
                    "filter"
                  ],
                  "properties": {
                    "filter": {
                      "type": "object",
                      "minProperties": 1
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "not": {
                    "required": [
                      "ids"
                    ],
                    "properties": {
                      "ids": {
                        "type": "array",
                        "minItems": 1
                      }
                    }
                  }
                },
                {
                  "not": {
                    "required": [
                      "filter"
                    ],
                    "properties": {
                      "filter": {
                        "type": "object",
                        "minProperties": 1
                      }
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "required": [
                    "dry_run"
                  ],
                  "properties": {
                    "dry_run": {
                      "const": true
                    }
                  }
                },
                {
                  "not": {
                    "required": [
                      "filter"
                    ],
                    "properties": {
                      "filter": {
                        "type": "object"
                      }
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "not": {
                    "required": [
                      "metadata"
                    ],
                    "properties": {
                      "metadata": {
                        "type": "object",
                        "minProperties": 1
                      }
                    }
                  }
                },
                {
                  "not": {
                    "required": [
                      "remove"
                    ],
                    "properties": {
                      "remove": {
                        "type": "array",
                        "minItems": 1
                      }
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "UpdateMemoriesResponse": {
        "type": "object",
        "properties": {
          "updated": {
            "type": "integer",
            "format": "int32",
            "description": "How many memories were changed."
          },
          "unchanged": {
            "type": "integer",
            "format": "int32",
            "description": "How many had this metadata already: those that a page before has changed may be met again."
          },
          "failed": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/UpdateFailure"
            },
            "description": "The memories that stay as they were, and why: their metadata would be over a limit. Of ids also those that no memory has, and those that another memory superseded."
          },
          "next_page_token": {
            "type": "string",
            "description": "Empty if nothing is left. Otherwise the filter matches more, time ran out, or the key's rate did: send the same request with it."
          },
          "samples": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Memory"
            },
            "description": "Some of the memories that the filter matches, the oldest, up to 20, with the metadata that they would get. Only of a dry run."
          },
          "matched": {
            "type": "integer",
            "format": "int32",
            "description": "How many memories the filter matches. Only of a dry run."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          }
        },
        "required": [
          "updated",
          "unchanged",
          "failed",
          "next_page_token",
          "samples",
          "namespace"
        ]
      },
      "UpdateFailure": {
        "description": "A memory that was not updated.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The memory's id."
          },
          "error": {
            "$ref": "#/components/schemas/Problem",
            "description": "Why."
          }
        },
        "required": [
          "id",
          "error"
        ]
      },
      "DeleteNamespaceRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace to drop.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "force": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Drop it although it holds memories."
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false
      },
      "DeleteNamespaceResponse": {
        "type": "object",
        "properties": {
          "deleted": {
            "type": "integer",
            "format": "int32",
            "description": "How many memories it held."
          }
        },
        "required": [
          "deleted"
        ]
      },
      "DeleteNamespacesRequest": {
        "type": "object",
        "properties": {
          "prefix": {
            "type": "string",
            "description": "What the names of the namespaces begin with, 1 to 256 bytes. They are dropped although they hold memories.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
          },
          "dry_run": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Drop nothing, and tell what would be dropped."
          }
        },
        "required": [
          "prefix"
        ],
        "additionalProperties": false
      },
      "DeleteNamespacesResponse": {
        "type": "object",
        "properties": {
          "deleted": {
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "description": "How many namespaces were dropped."
          },
          "more": {
            "type": "boolean",
            "description": "Whether others are left: send the same request again."
          },
          "namespaces": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The names of those that were dropped or, of a dry run, of those that the next call would drop, in the order of their bytes."
          },
          "memories": {
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "description": "How many memories these held, also superseded ones."
          },
          "matched": {
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "description": "How many namespaces begin with the prefix; only of a dry run."
          }
        },
        "required": [
          "deleted",
          "more",
          "namespaces",
          "memories"
        ]
      },
      "ListNamespacesRequest": {
        "type": "object",
        "properties": {
          "page_size": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many to return at most: 1 to 100, 50 when left out.",
            "minimum": 1,
            "maximum": 100
          },
          "page_token": {
            "type": [
              "string",
              "null"
            ],
            "description": "`next_page_token` of the page before; left out for the first."
          },
          "prefix": {
            "type": [
              "string",
              "null"
            ],
            "description": "What the names of the namespaces begin with, up to 256 bytes; all of them when left out. The pages of one list have the same prefix.",
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
          }
        },
        "additionalProperties": false
      },
      "ListNamespacesResponse": {
        "type": "object",
        "properties": {
          "namespaces": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Namespace"
            },
            "description": "In the order of their names' bytes."
          },
          "next_page_token": {
            "type": "string",
            "description": "Empty on the last page."
          }
        },
        "required": [
          "namespaces",
          "next_page_token"
        ]
      },
      "Namespace": {
        "description": "A namespace and what it holds.",
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string"
          },
          "memories": {
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "description": "How many memories it holds, also superseded ones."
          },
          "bytes": {
            "type": "string",
            "format": "int64",
            "pattern": "^[0-9]+$",
            "description": "Bytes of their texts and metadata together."
          }
        },
        "required": [
          "namespace",
          "memories",
          "bytes"
        ]
      },
      "GetNamespaceRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace to describe.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false
      },
      "GetNamespaceResponse": {
        "type": "object",
        "properties": {
          "namespace": {
            "$ref": "#/components/schemas/Namespace"
          },
          "first": {
            "type": "string",
            "format": "date-time",
            "description": "When the oldest memory that ListMemories shows was stored, or changed last. Absent if there is none, and if more than 10,240 deleted or hidden ones stand before it."
          },
          "last": {
            "type": "string",
            "format": "date-time",
            "description": "When the newest memory that ListMemories shows was stored, or changed last. Absent if there is none, and if more than 10,240 deletions or hidden ones come after it."
          }
        },
        "required": [
          "namespace"
        ]
      },
      "ListMemoriesRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace to list.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "page_size": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many to return at most: 1 to 100, 50 when left out.",
            "minimum": 1,
            "maximum": 100
          },
          "page_token": {
            "type": [
              "string",
              "null"
            ],
            "description": "`next_page_token` of the page before; left out for the first."
          },
          "filter": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Which memories to list: a filter in the language that docs/filters.md describes; all when left out or empty. The pages of one list have the same filter."
          },
          "order": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/Order"
              },
              {
                "type": "null"
              }
            ],
            "description": "What the memories are ordered by. The pages of one list have the same order."
          },
          "include_superseded": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Whether memories that others superseded are listed, too."
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false
      },
      "Order": {
        "type": "string",
        "enum": [
          "ORDER_UNSPECIFIED",
          "NEWEST_FIRST",
          "OLDEST_FIRST",
          "EVENT_TIME_NEWEST_FIRST",
          "EVENT_TIME_OLDEST_FIRST"
        ],
        "description": "The order of a list.\n\n- `NEWEST_FIRST`: The newest first.\n- `OLDEST_FIRST`: The oldest first.\n- `EVENT_TIME_NEWEST_FIRST`: What happened last first, by `$event_time`; of equal times, what was stored last.\n- `EVENT_TIME_OLDEST_FIRST`: What happened first first; of equal times, what was stored first."
      },
      "ListMemoriesResponse": {
        "type": "object",
        "properties": {
          "memories": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Memory"
            },
            "description": "In the order that the request asks for."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          },
          "next_page_token": {
            "type": "string",
            "description": "Empty on the last page."
          }
        },
        "required": [
          "memories",
          "namespace",
          "next_page_token"
        ]
      },
      "CountMemoriesRequest": {
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace to count in.",
            "minLength": 1,
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          },
          "filter": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "Which memories to count: a filter in the language that docs/filters.md describes; all when left out or empty."
          },
          "include_superseded": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Whether memories that others superseded count, too."
          }
        },
        "required": [
          "namespace"
        ],
        "additionalProperties": false
      },
      "CountMemoriesResponse": {
        "type": "object",
        "properties": {
          "memories": {
            "type": "integer",
            "format": "uint32",
            "minimum": 0,
            "description": "How many memories the namespace holds, or how many match the filter; 0 if nobody stored to it."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace, as it was given."
          }
        },
        "required": [
          "memories",
          "namespace"
        ]
      },
      "SignUpRequest": {
        "type": "object",
        "properties": {
          "email": {
            "type": [
              "string",
              "null"
            ],
            "description": "Shown to the account's owner only; never verified, never written to. At most 254 bytes. May be left out.",
            "maxLength": 254,
            "x-max-bytes": 254,
            "pattern": "^([^@\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+@[^@\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]+)?$"
          }
        },
        "additionalProperties": false
      },
      "SignUpResponse": {
        "type": "object",
        "properties": {
          "account_id": {
            "type": "string",
            "description": "The account's id: `acc_` and 26 characters."
          },
          "api_key": {
            "type": "string",
            "description": "The key, `rcl_…`. Keep it now: it cannot be shown again."
          },
          "plan": {
            "type": "string",
            "description": "The plan, `free`."
          },
          "calls_limit": {
            "type": "integer",
            "format": "int32",
            "description": "Successful Store and Recall calls that the plan allows in the account's lifetime; 2147483647 when it has no limit."
          },
          "calls_used": {
            "type": "integer",
            "format": "int32",
            "description": "How many of them are used."
          }
        },
        "required": [
          "account_id",
          "api_key",
          "plan",
          "calls_limit",
          "calls_used"
        ]
      },
      "GetAccountRequest": {
        "type": "object",
        "properties": {},
        "additionalProperties": false
      },
      "GetAccountResponse": {
        "type": "object",
        "properties": {
          "account_id": {
            "type": "string"
          },
          "email": {
            "type": "string",
            "description": "Empty when none was given."
          },
          "plan": {
            "type": "string"
          },
          "calls_limit": {
            "type": "integer",
            "format": "int32",
            "description": "Successful Store and Recall calls that the plan allows in the account's lifetime; 2147483647 when it has no limit."
          },
          "calls_used": {
            "type": "integer",
            "format": "int32",
            "description": "How many of them are used."
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "key": {
            "$ref": "#/components/schemas/Key",
            "description": "The key of this very call. Any key may read here what it may do, also one that may not list keys."
          },
          "model": {
            "$ref": "#/components/schemas/Model",
            "description": "The model that reads what is stored and asked."
          }
        },
        "required": [
          "account_id",
          "email",
          "plan",
          "calls_limit",
          "calls_used",
          "created_at",
          "key",
          "model"
        ]
      },
      "Key": {
        "description": "A key without its secret.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The key's id, `key_` and 26 characters; not a secret."
          },
          "name": {
            "type": "string"
          },
          "prefix": {
            "type": "string",
            "description": "The key's first 8 characters."
          },
          "access": {
            "$ref": "#/components/schemas/KeyAccess"
          },
          "namespace": {
            "type": "string",
            "description": "The only namespace it may touch; empty is all."
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "last_used_at": {
            "type": "string",
            "format": "date-time",
            "description": "About when it was last used, to the minute; absent when never."
          },
          "expires_at": {
            "type": "string",
            "format": "date-time",
            "description": "When it stops working; absent when never."
          },
          "replaces": {
            "type": "string",
            "description": "The id of the key that this one replaces once it is first used; empty when none, or when that has happened."
          },
          "current": {
            "type": "boolean",
            "description": "Whether this is the key of this very call."
          },
          "sessions": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Session"
            },
            "description": "The browsers that are signed in to the portal with it, the oldest first; at most 20."
          },
          "client": {
            "type": "string",
            "description": "The application that got the key by OAuth: a host, or an application's own scheme. Empty for a key that a person has made."
          }
        },
        "required": [
          "id",
          "name",
          "prefix",
          "access",
          "namespace",
          "created_at",
          "replaces",
          "current",
          "sessions",
          "client"
        ]
      },
      "KeyAccess": {
        "type": "string",
        "enum": [
          "KEY_ACCESS_UNSPECIFIED",
          "KEY_ACCESS_FULL",
          "KEY_ACCESS_READ_ONLY"
        ],
        "description": "What a key may do.\n\n- `KEY_ACCESS_FULL`: Everything.\n- `KEY_ACCESS_READ_ONLY`: Recall, read and list; no store, no delete, no keys."
      },
      "Session": {
        "description": "A browser that is signed in to the portal with a key. It may do what the key may, and ends with it.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The session's id, `ses_` and 26 characters; not a secret."
          },
          "created_at": {
            "type": "string",
            "format": "date-time"
          },
          "last_used_at": {
            "type": "string",
            "format": "date-time",
            "description": "About when it was last used, to the minute; absent when never."
          },
          "expires_at": {
            "type": "string",
            "format": "date-time",
            "description": "When it ends."
          },
          "current": {
            "type": "boolean",
            "description": "Whether this is the session of this very call."
          }
        },
        "required": [
          "id",
          "created_at",
          "expires_at",
          "current"
        ]
      },
      "Model": {
        "description": "An embedding model, as far as callers need to know it.",
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "Its id, as the operator names it: `bundled`, or that of its repository."
          },
          "languages": {
            "type": "array",
            "items": {
              "type": "string"
            },
            "description": "The languages that it reads, as BCP 47 tags such as `en`; `mul` stands for many. Empty when the server does not know them."
          },
          "strong_score": {
            "type": "number",
            "format": "double",
            "description": "The score above which a match is strong, where that was measured: models spread their scores differently, and for most of them no such score is known. It holds for texts and queries in the model's languages only."
          }
        },
        "required": [
          "id",
          "languages"
        ]
      },
      "GetUsageRequest": {
        "type": "object",
        "properties": {
          "days": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many days back, today included: 1 to 90, 30 when left out.",
            "minimum": 1,
            "maximum": 90
          }
        },
        "additionalProperties": false
      },
      "GetUsageResponse": {
        "type": "object",
        "properties": {
          "days": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/DayUsage"
            },
            "description": "One for each day (UTC), the oldest first, days without calls included."
          },
          "keys": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/KeyUsage"
            },
            "description": "What the account's keys used, over the calls that ListRecentCalls can list, those with most calls first: up to 50, and then all others together. A key for one namespace sees itself alone."
          },
          "namespaces": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/NamespaceUsage"
            },
            "description": "What was used in the account's namespaces, in the same way. A key for one namespace sees that one alone."
          },
          "since": {
            "type": "string",
            "format": "date-time",
            "description": "Since when keys and namespaces are counted: the oldest of these calls, or the time since when calls are kept."
          }
        },
        "required": [
          "days",
          "keys",
          "namespaces",
          "since"
        ]
      },
      "DayUsage": {
        "type": "object",
        "properties": {
          "date": {
            "type": "string",
            "description": "The day in UTC, `2026-11-21`."
          },
          "stores": {
            "type": "integer",
            "format": "int32"
          },
          "recalls": {
            "type": "integer",
            "format": "int32"
          },
          "tokens_stored": {
            "type": "integer",
            "format": "int32",
            "description": "Tokens of the stored texts and of the queries."
          },
          "tokens_queried": {
            "type": "integer",
            "format": "int32"
          },
          "hours": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/HourUsage"
            },
            "description": "The day's hours in UTC that have calls, in order. Only if the request asks for at most 3 days."
          }
        },
        "required": [
          "date",
          "stores",
          "recalls",
          "tokens_stored",
          "tokens_queried",
          "hours"
        ]
      },
      "HourUsage": {
        "description": "What was used in one hour of a day.",
        "type": "object",
        "properties": {
          "hour": {
            "type": "integer",
            "format": "int32",
            "description": "The hour in UTC, 0 to 23."
          },
          "stores": {
            "type": "integer",
            "format": "int32"
          },
          "recalls": {
            "type": "integer",
            "format": "int32"
          },
          "tokens_stored": {
            "type": "integer",
            "format": "int32",
            "description": "Tokens of the stored texts and of the queries."
          },
          "tokens_queried": {
            "type": "integer",
            "format": "int32"
          }
        },
        "required": [
          "hour",
          "stores",
          "recalls",
          "tokens_stored",
          "tokens_queried"
        ]
      },
      "KeyUsage": {
        "description": "What one key used.",
        "type": "object",
        "properties": {
          "key_id": {
            "type": "string",
            "description": "The key's id; empty for all others together, and for keys that are gone."
          },
          "stores": {
            "type": "integer",
            "format": "int32"
          },
          "recalls": {
            "type": "integer",
            "format": "int32"
          },
          "tokens_stored": {
            "type": "integer",
            "format": "int32",
            "description": "Tokens of the stored texts and of the queries."
          },
          "tokens_queried": {
            "type": "integer",
            "format": "int32"
          }
        },
        "required": [
          "key_id",
          "stores",
          "recalls",
          "tokens_stored",
          "tokens_queried"
        ]
      },
      "NamespaceUsage": {
        "description": "What was used in one namespace.",
        "type": "object",
        "properties": {
          "namespace": {
            "type": "string",
            "description": "The namespace's name; empty for all others together."
          },
          "stores": {
            "type": "integer",
            "format": "int32"
          },
          "recalls": {
            "type": "integer",
            "format": "int32"
          },
          "tokens_stored": {
            "type": "integer",
            "format": "int32",
            "description": "Tokens of the stored texts and of the queries."
          },
          "tokens_queried": {
            "type": "integer",
            "format": "int32"
          }
        },
        "required": [
          "namespace",
          "stores",
          "recalls",
          "tokens_stored",
          "tokens_queried"
        ]
      },
      "ListRecentCallsRequest": {
        "type": "object",
        "properties": {
          "page_size": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How many to return at most: 1 to 100, 50 when left out.",
            "minimum": 1,
            "maximum": 100
          },
          "page_token": {
            "type": [
              "string",
              "null"
            ],
            "description": "`next_page_token` of the page before; left out for the first."
          },
          "errors_only": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Whether only calls that failed are listed."
          },
          "method": {
            "type": [
              "string",
              "null"
            ],
            "description": "Only calls of this method: `recalld.v1.MemoryService/Recall`, or `Recall`. All when left out, as with the fields below. Those that are given must all fit a call."
          },
          "key_id": {
            "type": [
              "string",
              "null"
            ],
            "description": "Only calls that were made with the key of this id."
          },
          "code": {
            "type": [
              "string",
              "null"
            ],
            "description": "Only calls that ended so: `ok`, or the name of an error."
          },
          "namespace": {
            "type": [
              "string",
              "null"
            ],
            "description": "Only calls that named this namespace.",
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?$"
          }
        },
        "additionalProperties": false
      },
      "ListRecentCallsResponse": {
        "type": "object",
        "properties": {
          "calls": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/RecentCall"
            },
            "description": "Those that ended last first. A page looks through at most 2,500 calls: when few of them are asked for it has fewer than `page_size`, or none, and still a token for the next page."
          },
          "next_page_token": {
            "type": "string",
            "description": "Empty on the last page."
          },
          "since": {
            "type": "string",
            "format": "date-time",
            "description": "Since when calls are kept: earlier ones are not listed."
          }
        },
        "required": [
          "calls",
          "next_page_token",
          "since"
        ]
      },
      "RecentCall": {
        "description": "A call that has ended.",
        "type": "object",
        "properties": {
          "start_time": {
            "type": "string",
            "format": "date-time",
            "description": "When it began."
          },
          "method": {
            "type": "string",
            "description": "Its method, `recalld.v1.MemoryService/Recall`."
          },
          "protocol": {
            "type": "string",
            "description": "The protocol that it came by: `connect`, `grpc`, `grpc-web`, `json` for the plain paths, or `mcp`."
          },
          "key_id": {
            "type": "string",
            "description": "The id of its key; empty if that key is gone."
          },
          "code": {
            "type": "string",
            "description": "`ok`, or the name of the error, `resource_exhausted`."
          },
          "duration_ms": {
            "type": "number",
            "format": "double",
            "description": "How long the server took, in milliseconds."
          },
          "request_id": {
            "type": "string",
            "description": "The answer's `X-Request-ID`, under which the server's log has it."
          },
          "namespace": {
            "type": "string",
            "description": "The namespace that it named; empty if none."
          },
          "message": {
            "type": "string",
            "description": "The error's message, without what it repeats of the request; empty if the call succeeded, or if there is none."
          }
        },
        "required": [
          "start_time",
          "method",
          "protocol",
          "key_id",
          "code",
          "duration_ms",
          "request_id",
          "namespace",
          "message"
        ]
      },
      "CreateKeyRequest": {
        "type": "object",
        "properties": {
          "name": {
            "type": [
              "string",
              "null"
            ],
            "description": "To tell keys apart: at most 64 bytes, no control characters.",
            "maxLength": 64,
            "x-max-bytes": 64,
            "pattern": "^[^\\u0000-\\u001f\\u007f-\\u009f]*$"
          },
          "access": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/KeyAccess"
              },
              {
                "type": "null"
              }
            ],
            "description": "Full when left out. In a rotation the old key's applies, and read-only is refused here: make a key without `replaces` for less than the old one may."
          },
          "namespace": {
            "type": [
              "string",
              "null"
            ],
            "description": "The only namespace it may touch; left out, all. Refused in a rotation, where the old key's applies.",
            "maxLength": 256,
            "x-max-bytes": 256,
            "pattern": "^([^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]([^\\u0000-\\u001f\\u007f-\\u009f]*[^\\u0000-\\u001f\\u007f-\\u009f\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff])?)?$"
          },
          "replaces": {
            "type": [
              "string",
              "null"
            ],
            "description": "The id of the key to replace."
          },
          "grace_seconds": {
            "type": [
              "integer",
              "null"
            ],
            "format": "int32",
            "description": "How long the replaced key works on once the new one is used: 0 to 86,400. Refused without `replaces`.",
            "minimum": 0,
            "maximum": 86400
          },
          "expire_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "A time in the future, up to the end of the year 9999; milliseconds count."
          },
          "ttl": {
            "type": [
              "string",
              "null"
            ],
            "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$",
            "description": "How long from now; in JSON a string like \"3600s\"."
          }
        },
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "expire_time"
                  ],
                  "properties": {
                    "expire_time": {
                      "type": "string"
                    }
                  }
                },
                {
                  "required": [
                    "ttl"
                  ],
                  "properties": {
                    "ttl": {
                      "type": "string"
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "required": [
                    "grace_seconds"
                  ],
                  "properties": {
                    "grace_seconds": {
                      "type": "integer"
                    }
                  }
                },
                {
                  "not": {
                    "required": [
                      "replaces"
                    ],
                    "properties": {
                      "replaces": {
                        "type": "string",
                        "minLength": 1
                      }
                    }
                  }
                }
              ]
            },
            {
              "allOf": [
                {
                  "required": [
                    "replaces"
                  ],
                  "properties": {
                    "replaces": {
                      "type": "string",
                      "minLength": 1
                    }
                  }
                },
                {
                  "not": {
                    "properties": {
                      "access": {
                        "enum": [
                          "KEY_ACCESS_UNSPECIFIED",
                          "KEY_ACCESS_FULL",
                          null
                        ]
                      },
                      "namespace": {
                        "enum": [
                          "",
                          null
                        ]
                      }
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "CreateKeyResponse": {
        "type": "object",
        "properties": {
          "api_key": {
            "type": "string",
            "description": "The key, `rcl_…`. Keep it now: it cannot be shown again."
          },
          "key": {
            "$ref": "#/components/schemas/Key"
          }
        },
        "required": [
          "api_key",
          "key"
        ]
      },
      "ListKeysRequest": {
        "type": "object",
        "properties": {},
        "additionalProperties": false
      },
      "ListKeysResponse": {
        "type": "object",
        "properties": {
          "keys": {
            "type": "array",
            "items": {
              "$ref": "#/components/schemas/Key"
            },
            "description": "The oldest first; an account has at most 50."
          }
        },
        "required": [
          "keys"
        ]
      },
      "RevokeKeyRequest": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string",
            "description": "The key's id, or a session's.",
            "minLength": 1
          },
          "force": {
            "type": [
              "boolean",
              "null"
            ],
            "description": "Revoke it although it is the account's last."
          }
        },
        "required": [
          "id"
        ],
        "additionalProperties": false
      },
      "RevokeKeyResponse": {
        "type": "object",
        "properties": {
          "id": {
            "type": "string"
          }
        },
        "required": [
          "id"
        ]
      },
      "CloseAccountRequest": {
        "type": "object",
        "properties": {
          "account_id": {
            "type": "string",
            "description": "The account's id, to make sure that it is meant.",
            "minLength": 1
          }
        },
        "required": [
          "account_id"
        ],
        "additionalProperties": false
      },
      "CloseAccountResponse": {
        "type": "object",
        "properties": {
          "deleted": {
            "type": "integer",
            "format": "int32",
            "description": "How many memories were erased."
          }
        },
        "required": [
          "deleted"
        ]
      },
      "UpdateMemoryPatch": {
        "type": "object",
        "properties": {
          "text": {
            "type": [
              "string",
              "null"
            ],
            "description": "The new text, as for Store.",
            "maxLength": 65536,
            "x-max-bytes": 65536,
            "pattern": "[^\\u0009-\\u000d\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000\\ufeff]"
          },
          "metadata": {
            "type": [
              "object",
              "null"
            ],
            "additionalProperties": true,
            "description": "The new metadata, or the keys that `update_mask` names."
          },
          "expire_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "A time in the future, up to the end of the year 9999."
          },
          "ttl": {
            "type": [
              "string",
              "null"
            ],
            "pattern": "^-?[0-9]+(\\.[0-9]{1,9})?s$",
            "description": "How long from now; in JSON a string like \"3600s\"."
          },
          "etag": {
            "type": [
              "string",
              "null"
            ],
            "description": "The etag that the memory must have: if it was changed since, the update is `aborted`, and nothing is done. Empty means any."
          },
          "event_time": {
            "type": [
              "string",
              "null"
            ],
            "format": "date-time",
            "description": "When what the text tells of happened, as for Store."
          },
          "on_secret": {
            "anyOf": [
              {
                "$ref": "#/components/schemas/OnSecret"
              },
              {
                "type": "null"
              }
            ],
            "description": "What to do if the new text or metadata has what looks like a secret, as for Store."
          }
        },
        "additionalProperties": false,
        "not": {
          "anyOf": [
            {
              "allOf": [
                {
                  "required": [
                    "expire_time"
                  ],
                  "properties": {
                    "expire_time": {
                      "type": "string"
                    }
                  }
                },
                {
                  "required": [
                    "ttl"
                  ],
                  "properties": {
                    "ttl": {
                      "type": "string"
                    }
                  }
                }
              ]
            }
          ]
        }
      },
      "Error": {
        "type": "object",
        "required": [
          "code",
          "message"
        ],
        "properties": {
          "code": {
            "type": "string",
            "enum": [
              "invalid_argument",
              "failed_precondition",
              "unauthenticated",
              "permission_denied",
              "not_found",
              "unimplemented",
              "already_exists",
              "aborted",
              "resource_exhausted",
              "internal",
              "unavailable",
              "deadline_exceeded"
            ]
          },
          "message": {
            "type": "string",
            "description": "What to fix, in plain words."
          },
          "details": {
            "type": "array",
            "description": "Messages of google.rpc, as Connect writes them.",
            "items": {
              "type": "object",
              "required": [
                "type",
                "value"
              ],
              "properties": {
                "type": {
                  "type": "string",
                  "description": "Such as `google.rpc.BadRequest` or `google.rpc.ErrorInfo`."
                },
                "value": {
                  "type": "string",
                  "description": "The message in Protobuf's binary form, in base64 without padding."
                },
                "debug": {
                  "description": "The same as JSON: `field_violations` names fields, `reason` is a constant."
                }
              }
            }
          }
        },
        "description": "The same on every path. gRPC and gRPC-Web say it in their own status and trailers."
      },
      "RestError": {
        "type": "object",
        "required": [
          "code",
          "message",
          "request_id",
          "docs_url"
        ],
        "properties": {
          "code": {
            "type": "string",
            "enum": [
              "invalid_argument",
              "failed_precondition",
              "unauthenticated",
              "permission_denied",
              "not_found",
              "unimplemented",
              "already_exists",
              "aborted",
              "resource_exhausted",
              "internal",
              "unavailable",
              "deadline_exceeded"
            ]
          },
          "message": {
            "type": "string",
            "description": "What to fix, in plain words."
          },
          "details": {
            "type": "array",
            "description": "Messages of google.rpc, as Connect writes them.",
            "items": {
              "type": "object",
              "required": [
                "type",
                "value"
              ],
              "properties": {
                "type": {
                  "type": "string",
                  "description": "Such as `google.rpc.BadRequest` or `google.rpc.ErrorInfo`."
                },
                "value": {
                  "type": "string",
                  "description": "The message in Protobuf's binary form, in base64 without padding."
                },
                "debug": {
                  "description": "The same as JSON: `field_violations` names fields, `reason` is a constant."
                }
              }
            }
          },
          "reason": {
            "type": "string",
            "description": "A constant to branch on, also in `details`."
          },
          "field": {
            "type": "string",
            "description": "The wrong field of the request, also in `details`."
          },
          "request_id": {
            "type": "string",
            "description": "The call's id, also in `X-Request-ID`."
          },
          "docs_url": {
            "type": "string",
            "description": "The page about the code."
          }
        },
        "description": "An error at a path of REST: what all paths have, and what is easier to read."
      }
    },
    "responses": {
      "RestError400": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`invalid_argument` (`SECRET_FOUND`): The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.\n\n`failed_precondition` (`IDEMPOTENT_MEMORY_DELETED`): The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.\n\n`failed_precondition` (`MEMORY_SUPERSEDED`): The memory was superseded by another one, which `metadata.superseded_by` of the details names.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "SECRET_FOUND": {
                "summary": "The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.",
                "value": {
                  "code": "invalid_argument",
                  "message": "The text or the metadata has what looks like a secret, and on_secret is REFUSE",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxTRUNSRVRfRk9VTkQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "SECRET_FOUND",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "SECRET_FOUND",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "IDEMPOTENT_MEMORY_DELETED": {
                "summary": "The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The memory that this Idempotency-Key stored was deleted, or has expired",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChlJREVNUE9URU5UX01FTU9SWV9ERUxFVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "IDEMPOTENT_MEMORY_DELETED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "IDEMPOTENT_MEMORY_DELETED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "MEMORY_SUPERSEDED": {
                "summary": "The memory was superseded by another one, which `metadata.superseded_by` of the details names.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The memory was superseded by another one, which metadata.superseded_by of the details names",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChFNRU1PUllfU1VQRVJTRURFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "MEMORY_SUPERSEDED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "MEMORY_SUPERSEDED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError401": {
        "description": "`unauthenticated`: There is no key, it is mistyped, or nobody holds it (any more).",
        "headers": {
          "WWW-Authenticate": {
            "description": "Always `Bearer`.",
            "schema": {
              "type": "string",
              "const": "Bearer"
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "unauthenticated": {
                "summary": "There is no key, it is mistyped, or nobody holds it (any more).",
                "value": {
                  "code": "unauthenticated",
                  "message": "There is no key, it is mistyped, or nobody holds it (any more)",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unauthenticated"
                }
              }
            }
          }
        }
      },
      "RestError403": {
        "description": "`permission_denied` (`KEY_READ_ONLY`): The key may only read.\n\n`permission_denied` (`KEY_OTHER_NAMESPACE`): The key is for another namespace, or for one alone.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "KEY_READ_ONLY": {
                "summary": "The key may only read.",
                "value": {
                  "code": "permission_denied",
                  "message": "The key may only read",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg1LRVlfUkVBRF9PTkxZEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_READ_ONLY",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_READ_ONLY",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              },
              "KEY_OTHER_NAMESPACE": {
                "summary": "The key is for another namespace, or for one alone.",
                "value": {
                  "code": "permission_denied",
                  "message": "The key is for another namespace, or for one alone",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNLRVlfT1RIRVJfTkFNRVNQQUNFEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_OTHER_NAMESPACE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_OTHER_NAMESPACE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              }
            }
          }
        }
      },
      "RestError404": {
        "description": "`not_found`: The namespace has no memory with an id in `supersedes`.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "not_found": {
                "summary": "The namespace has no memory with an id in `supersedes`.",
                "value": {
                  "code": "not_found",
                  "message": "The namespace has no memory with an id in supersedes",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#not-found"
                }
              }
            }
          }
        }
      },
      "RestError405": {
        "description": "`unimplemented`: The path is there, but not for this method; `Allow` says which to use.",
        "headers": {
          "Allow": {
            "description": "The methods that are served.",
            "schema": {
              "type": "string"
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "unimplemented": {
                "summary": "The path is there, but not for this method; `Allow` says which to use.",
                "value": {
                  "code": "unimplemented",
                  "message": "The path is there, but not for this method; Allow says which to use",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unimplemented"
                }
              }
            }
          }
        }
      },
      "RestError409": {
        "description": "`already_exists` (`EXTERNAL_ID_TAKEN`): Another memory has the external id; `metadata.id` of the details names it.\n\n`already_exists` (`IDEMPOTENCY_KEY_REUSED`): The Idempotency-Key was used for another request.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "EXTERNAL_ID_TAKEN": {
                "summary": "Another memory has the external id; `metadata.id` of the details names it.",
                "value": {
                  "code": "already_exists",
                  "message": "Another memory has the external id; metadata.id of the details names it",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChFFWFRFUk5BTF9JRF9UQUtFThIHcmVjYWxsZA",
                      "debug": {
                        "reason": "EXTERNAL_ID_TAKEN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "EXTERNAL_ID_TAKEN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#already-exists"
                }
              },
              "IDEMPOTENCY_KEY_REUSED": {
                "summary": "The Idempotency-Key was used for another request.",
                "value": {
                  "code": "already_exists",
                  "message": "The Idempotency-Key was used for another request",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChZJREVNUE9URU5DWV9LRVlfUkVVU0VEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "IDEMPOTENCY_KEY_REUSED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "IDEMPOTENCY_KEY_REUSED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#already-exists"
                }
              }
            }
          }
        }
      },
      "RestError413": {
        "description": "`resource_exhausted` (`BODY_TOO_LARGE`): The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "BODY_TOO_LARGE": {
                "summary": "The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RZX1RPT19MQVJHRRIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODY_TOO_LARGE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODY_TOO_LARGE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              }
            }
          }
        }
      },
      "RestError415": {
        "description": "`invalid_argument`: The content type is not one that is served; send `Content-Type: application/json`.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "The content type is not one that is served; send `Content-Type: application/json`.",
                "value": {
                  "code": "invalid_argument",
                  "message": "The content type is not one that is served; send Content-Type: application/json",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              }
            }
          }
        }
      },
      "RestError429": {
        "description": "`resource_exhausted` (`QUOTA_EXHAUSTED`): All calls of the account's plan are used. Waiting does not help.\n\n`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`INDEX_TOO_LARGE`): The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.\n\n`resource_exhausted` (`ABANDONED_WORK`): The account broke off too many calls while the model read their texts. Nothing was stored.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "QUOTA_EXHAUSTED": {
                "summary": "All calls of the account's plan are used. Waiting does not help.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "All calls of the account's plan are used",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg9RVU9UQV9FWEhBVVNURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "QUOTA_EXHAUSTED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "QUOTA_EXHAUSTED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "KEY_RATE_LIMITED": {
                "summary": "The key makes more calls a second than its plan has. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key makes more calls a second than its plan has",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChBLRVlfUkFURV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "CONCURRENCY_LIMITED": {
                "summary": "The key has as many calls running as its plan allows. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key has as many calls running as its plan allows",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNDT05DVVJSRU5DWV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "CONCURRENCY_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "CONCURRENCY_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "INDEX_TOO_LARGE": {
                "summary": "The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The namespace's index alone is larger than INDEX_MEMORY_BYTES_MAX",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg9JTkRFWF9UT09fTEFSR0USB3JlY2FsbGQ",
                      "debug": {
                        "reason": "INDEX_TOO_LARGE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "INDEX_TOO_LARGE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "ABANDONED_WORK": {
                "summary": "The account broke off too many calls while the model read their texts. Nothing was stored.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The account broke off too many calls while the model read their texts",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5BQkFORE9ORURfV09SSxIHcmVjYWxsZA",
                      "debug": {
                        "reason": "ABANDONED_WORK",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "ABANDONED_WORK",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The bodies of the caller's running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "RATE_LIMITED": {
                "summary": "Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "Too many unknown keys from this address, so this one was not looked up",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxSQVRFX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              }
            }
          }
        }
      },
      "RestError500": {
        "description": "`internal`: A fault of ours. The server's log has it under the answer's `X-Request-ID`.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "internal": {
                "summary": "A fault of ours. The server's log has it under the answer's `X-Request-ID`.",
                "value": {
                  "code": "internal",
                  "message": "A fault of ours",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#internal"
                }
              }
            }
          }
        }
      },
      "RestError503": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.\n\n`unavailable` (`STORAGE_NOT_WRITABLE`): The database cannot write; its disk may be full. Calls that only read go on.\n\n`unavailable` (`MODEL_BUSY`): The model has too much to read to be done before the call's deadline. Nothing was stored.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "unavailable": {
                "summary": "The database or the model is away for now, or the server is too busy or shutting down. Try again.",
                "value": {
                  "code": "unavailable",
                  "message": "The database or the model is away for now, or the server is too busy or shutting down",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "unavailable",
                  "message": "The bodies of all running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "STORAGE_NOT_WRITABLE": {
                "summary": "The database cannot write; its disk may be full. Calls that only read go on.",
                "value": {
                  "code": "unavailable",
                  "message": "The database cannot write; its disk may be full",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChRTVE9SQUdFX05PVF9XUklUQUJMRRIHcmVjYWxsZA",
                      "debug": {
                        "reason": "STORAGE_NOT_WRITABLE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "STORAGE_NOT_WRITABLE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "MODEL_BUSY": {
                "summary": "The model has too much to read to be done before the call's deadline. Nothing was stored.",
                "value": {
                  "code": "unavailable",
                  "message": "The model has too much to read to be done before the call's deadline",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgpNT0RFTF9CVVNZEgdyZWNhbGxk",
                      "debug": {
                        "reason": "MODEL_BUSY",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "MODEL_BUSY",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              }
            }
          }
        }
      },
      "RestError504": {
        "description": "`deadline_exceeded`: The call took longer than the server, or the caller's own timeout, allows.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "deadline_exceeded": {
                "summary": "The call took longer than the server, or the caller's own timeout, allows.",
                "value": {
                  "code": "deadline_exceeded",
                  "message": "The call took longer than the server, or the caller's own timeout, allows",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#deadline-exceeded"
                }
              }
            }
          }
        }
      },
      "RestError400-2": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`invalid_argument` (`SECRET_FOUND`): The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.\n\n`failed_precondition` (`IDEMPOTENT_MEMORY_DELETED`): The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "SECRET_FOUND": {
                "summary": "The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.",
                "value": {
                  "code": "invalid_argument",
                  "message": "The text or the metadata has what looks like a secret, and on_secret is REFUSE",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxTRUNSRVRfRk9VTkQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "SECRET_FOUND",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "SECRET_FOUND",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "IDEMPOTENT_MEMORY_DELETED": {
                "summary": "The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The memory that this Idempotency-Key stored was deleted, or has expired",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChlJREVNUE9URU5UX01FTU9SWV9ERUxFVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "IDEMPOTENT_MEMORY_DELETED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "IDEMPOTENT_MEMORY_DELETED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError409-2": {
        "description": "`already_exists` (`IDEMPOTENCY_KEY_REUSED`): The Idempotency-Key was used for another request.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "IDEMPOTENCY_KEY_REUSED": {
                "summary": "The Idempotency-Key was used for another request.",
                "value": {
                  "code": "already_exists",
                  "message": "The Idempotency-Key was used for another request",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChZJREVNUE9URU5DWV9LRVlfUkVVU0VEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "IDEMPOTENCY_KEY_REUSED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "IDEMPOTENCY_KEY_REUSED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#already-exists"
                }
              }
            }
          }
        }
      },
      "RestError400-3": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError403-2": {
        "description": "`permission_denied` (`KEY_OTHER_NAMESPACE`): The key is for another namespace, or for one alone.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "KEY_OTHER_NAMESPACE": {
                "summary": "The key is for another namespace, or for one alone.",
                "value": {
                  "code": "permission_denied",
                  "message": "The key is for another namespace, or for one alone",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNLRVlfT1RIRVJfTkFNRVNQQUNFEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_OTHER_NAMESPACE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_OTHER_NAMESPACE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              }
            }
          }
        }
      },
      "RestError400-4": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              }
            }
          }
        }
      },
      "RestError403-3": {
        "description": "`permission_denied`: Sign-up is closed here: the operator makes the accounts.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "permission_denied": {
                "summary": "Sign-up is closed here: the operator makes the accounts.",
                "value": {
                  "code": "permission_denied",
                  "message": "Sign-up is closed here: the operator makes the accounts",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              }
            }
          }
        }
      },
      "RestError429-2": {
        "description": "`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many sign-ups from this address, or altogether. `Retry-After` says when to try again.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "BODIES_LIMITED": {
                "summary": "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The bodies of the caller's running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "RATE_LIMITED": {
                "summary": "Too many sign-ups from this address, or altogether. `Retry-After` says when to try again.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "Too many sign-ups from this address, or altogether",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxSQVRFX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              }
            }
          }
        }
      },
      "RestError503-2": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.\n\n`unavailable` (`STORAGE_NOT_WRITABLE`): The database cannot write; its disk may be full. Calls that only read go on.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "unavailable": {
                "summary": "The database or the model is away for now, or the server is too busy or shutting down. Try again.",
                "value": {
                  "code": "unavailable",
                  "message": "The database or the model is away for now, or the server is too busy or shutting down",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "unavailable",
                  "message": "The bodies of all running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "STORAGE_NOT_WRITABLE": {
                "summary": "The database cannot write; its disk may be full. Calls that only read go on.",
                "value": {
                  "code": "unavailable",
                  "message": "The database cannot write; its disk may be full",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChRTVE9SQUdFX05PVF9XUklUQUJMRRIHcmVjYWxsZA",
                      "debug": {
                        "reason": "STORAGE_NOT_WRITABLE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "STORAGE_NOT_WRITABLE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              }
            }
          }
        }
      },
      "RestError429-3": {
        "description": "`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`INDEX_TOO_LARGE`): The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "KEY_RATE_LIMITED": {
                "summary": "The key makes more calls a second than its plan has. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key makes more calls a second than its plan has",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChBLRVlfUkFURV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "CONCURRENCY_LIMITED": {
                "summary": "The key has as many calls running as its plan allows. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key has as many calls running as its plan allows",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNDT05DVVJSRU5DWV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "CONCURRENCY_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "CONCURRENCY_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "INDEX_TOO_LARGE": {
                "summary": "The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The namespace's index alone is larger than INDEX_MEMORY_BYTES_MAX",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg9JTkRFWF9UT09fTEFSR0USB3JlY2FsbGQ",
                      "debug": {
                        "reason": "INDEX_TOO_LARGE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "INDEX_TOO_LARGE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The bodies of the caller's running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "RATE_LIMITED": {
                "summary": "Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "Too many unknown keys from this address, so this one was not looked up",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxSQVRFX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              }
            }
          }
        }
      },
      "RestError503-3": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "unavailable": {
                "summary": "The database or the model is away for now, or the server is too busy or shutting down. Try again.",
                "value": {
                  "code": "unavailable",
                  "message": "The database or the model is away for now, or the server is too busy or shutting down",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "unavailable",
                  "message": "The bodies of all running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              }
            }
          }
        }
      },
      "RestError404-2": {
        "description": "`not_found`: The namespace has no memory with this id, or there is no such namespace.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "not_found": {
                "summary": "The namespace has no memory with this id, or there is no such namespace.",
                "value": {
                  "code": "not_found",
                  "message": "The namespace has no memory with this id, or there is no such namespace",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#not-found"
                }
              }
            }
          }
        }
      },
      "RestError429-4": {
        "description": "`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "KEY_RATE_LIMITED": {
                "summary": "The key makes more calls a second than its plan has. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key makes more calls a second than its plan has",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChBLRVlfUkFURV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "CONCURRENCY_LIMITED": {
                "summary": "The key has as many calls running as its plan allows. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key has as many calls running as its plan allows",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNDT05DVVJSRU5DWV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "CONCURRENCY_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "CONCURRENCY_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The bodies of the caller's running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "RATE_LIMITED": {
                "summary": "Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "Too many unknown keys from this address, so this one was not looked up",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxSQVRFX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              }
            }
          }
        }
      },
      "RestError409-3": {
        "description": "`aborted` (`ETAG_MISMATCH`): The memory was changed since its etag was read; `metadata.etag` of the details is the current one.\n\n`already_exists` (`IDEMPOTENCY_KEY_REUSED`): The Idempotency-Key was used for another request.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "ETAG_MISMATCH": {
                "summary": "The memory was changed since its etag was read; `metadata.etag` of the details is the current one.",
                "value": {
                  "code": "aborted",
                  "message": "The memory was changed since its etag was read; metadata.etag of the details is the current one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg1FVEFHX01JU01BVENIEgdyZWNhbGxk",
                      "debug": {
                        "reason": "ETAG_MISMATCH",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "ETAG_MISMATCH",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#aborted"
                }
              },
              "IDEMPOTENCY_KEY_REUSED": {
                "summary": "The Idempotency-Key was used for another request.",
                "value": {
                  "code": "already_exists",
                  "message": "The Idempotency-Key was used for another request",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChZJREVNUE9URU5DWV9LRVlfUkVVU0VEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "IDEMPOTENCY_KEY_REUSED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "IDEMPOTENCY_KEY_REUSED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#already-exists"
                }
              }
            }
          }
        }
      },
      "RestError400-5": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`NAMESPACE_NOT_EMPTY`): The namespace holds memories, and `force` is not set.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "NAMESPACE_NOT_EMPTY": {
                "summary": "The namespace holds memories, and `force` is not set.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The namespace holds memories, and force is not set",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNOQU1FU1BBQ0VfTk9UX0VNUFRZEgdyZWNhbGxk",
                      "debug": {
                        "reason": "NAMESPACE_NOT_EMPTY",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "NAMESPACE_NOT_EMPTY",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError403-4": {
        "description": "`permission_denied` (`KEY_READ_ONLY`): The key may only read.\n\n`permission_denied` (`KEY_OTHER_NAMESPACE`): The key is for another namespace, or for one alone.\n\n`permission_denied` (`KEY_OF_CLIENT`): An application got the key by OAuth: it cannot manage the account.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "KEY_READ_ONLY": {
                "summary": "The key may only read.",
                "value": {
                  "code": "permission_denied",
                  "message": "The key may only read",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg1LRVlfUkVBRF9PTkxZEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_READ_ONLY",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_READ_ONLY",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              },
              "KEY_OTHER_NAMESPACE": {
                "summary": "The key is for another namespace, or for one alone.",
                "value": {
                  "code": "permission_denied",
                  "message": "The key is for another namespace, or for one alone",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNLRVlfT1RIRVJfTkFNRVNQQUNFEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_OTHER_NAMESPACE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_OTHER_NAMESPACE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              },
              "KEY_OF_CLIENT": {
                "summary": "An application got the key by OAuth: it cannot manage the account.",
                "value": {
                  "code": "permission_denied",
                  "message": "An application got the key by OAuth: it cannot manage the account",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg1LRVlfT0ZfQ0xJRU5UEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_OF_CLIENT",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_OF_CLIENT",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#permission-denied"
                }
              }
            }
          }
        }
      },
      "RestError400-6": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`KEYS_LIMIT`): The account has as many keys as it may.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "KEYS_LIMIT": {
                "summary": "The account has as many keys as it may.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The account has as many keys as it may",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgpLRVlTX0xJTUlUEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEYS_LIMIT",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEYS_LIMIT",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError404-3": {
        "description": "`not_found`: The account has no key with this id.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "not_found": {
                "summary": "The account has no key with this id.",
                "value": {
                  "code": "not_found",
                  "message": "The account has no key with this id",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#not-found"
                }
              }
            }
          }
        }
      },
      "RestError400-7": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`LAST_KEY`): The key is the account's last, and `force` is not set.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "LAST_KEY": {
                "summary": "The key is the account's last, and `force` is not set.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The key is the account's last, and force is not set",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CghMQVNUX0tFWRIHcmVjYWxsZA",
                      "debug": {
                        "reason": "LAST_KEY",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "LAST_KEY",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError400-8": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`POSITION_GONE`): The position is of another namespace, or of one that was dropped since; or it is dropped during an export.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "invalid_argument": {
                "summary": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
                "value": {
                  "code": "invalid_argument",
                  "message": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#invalid-argument"
                }
              },
              "POSITION_GONE": {
                "summary": "The position is of another namespace, or of one that was dropped since; or it is dropped during an export.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The position is of another namespace, or of one that was dropped since; or it is dropped during an export",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg1QT1NJVElPTl9HT05FEgdyZWNhbGxk",
                      "debug": {
                        "reason": "POSITION_GONE",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "POSITION_GONE",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              },
              "PLAN_UNKNOWN": {
                "summary": "The operator took the account's plan away, and must give it another one.",
                "value": {
                  "code": "failed_precondition",
                  "message": "The operator took the account's plan away, and must give it another one",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxQTEFOX1VOS05PV04SB3JlY2FsbGQ",
                      "debug": {
                        "reason": "PLAN_UNKNOWN",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "PLAN_UNKNOWN",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#failed-precondition"
                }
              }
            }
          }
        }
      },
      "RestError429-5": {
        "description": "`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`STREAMS_LIMITED`): The key or its account has as many watches or exports open as it may.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "KEY_RATE_LIMITED": {
                "summary": "The key makes more calls a second than its plan has. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key makes more calls a second than its plan has",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChBLRVlfUkFURV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "KEY_RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "KEY_RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "CONCURRENCY_LIMITED": {
                "summary": "The key has as many calls running as its plan allows. Nothing was read or charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key has as many calls running as its plan allows",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "ChNDT05DVVJSRU5DWV9MSU1JVEVEEgdyZWNhbGxk",
                      "debug": {
                        "reason": "CONCURRENCY_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "CONCURRENCY_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "STREAMS_LIMITED": {
                "summary": "The key or its account has as many watches or exports open as it may.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The key or its account has as many watches or exports open as it may",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg9TVFJFQU1TX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "STREAMS_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "STREAMS_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "The bodies of the caller's running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              },
              "RATE_LIMITED": {
                "summary": "Too many unknown keys from this address, so this one was not looked up. Nothing was charged.",
                "value": {
                  "code": "resource_exhausted",
                  "message": "Too many unknown keys from this address, so this one was not looked up",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "CgxSQVRFX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "RATE_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "RATE_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#resource-exhausted"
                }
              }
            }
          }
        }
      },
      "RestError503-4": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.\n\n`unavailable` (`STREAMS_LIMITED`): The server has as many watches or exports open as it may.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/RestError"
            },
            "examples": {
              "unavailable": {
                "summary": "The database or the model is away for now, or the server is too busy or shutting down. Try again.",
                "value": {
                  "code": "unavailable",
                  "message": "The database or the model is away for now, or the server is too busy or shutting down",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "BODIES_LIMITED": {
                "summary": "The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
                "value": {
                  "code": "unavailable",
                  "message": "The bodies of all running calls fill the memory that is kept for them",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg5CT0RJRVNfTElNSVRFRBIHcmVjYWxsZA",
                      "debug": {
                        "reason": "BODIES_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "BODIES_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              },
              "STREAMS_LIMITED": {
                "summary": "The server has as many watches or exports open as it may.",
                "value": {
                  "code": "unavailable",
                  "message": "The server has as many watches or exports open as it may",
                  "details": [
                    {
                      "type": "google.rpc.ErrorInfo",
                      "value": "Cg9TVFJFQU1TX0xJTUlURUQSB3JlY2FsbGQ",
                      "debug": {
                        "reason": "STREAMS_LIMITED",
                        "domain": "recalld"
                      }
                    }
                  ],
                  "reason": "STREAMS_LIMITED",
                  "request_id": "0b0f2f0e-4d8b-4f6e-9f43-0b1c9d7f0c55",
                  "docs_url": "https://memory.example.org/docs/errors#unavailable"
                }
              }
            }
          }
        }
      },
      "Error400": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`invalid_argument` (`SECRET_FOUND`): The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.\n\n`failed_precondition` (`IDEMPOTENT_MEMORY_DELETED`): The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.\n\n`failed_precondition` (`MEMORY_SUPERSEDED`): The memory was superseded by another one, which `metadata.superseded_by` of the details names.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error401": {
        "description": "`unauthenticated`: There is no key, it is mistyped, or nobody holds it (any more).",
        "headers": {
          "WWW-Authenticate": {
            "description": "Always `Bearer`.",
            "schema": {
              "type": "string",
              "const": "Bearer"
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error403": {
        "description": "`permission_denied` (`KEY_READ_ONLY`): The key may only read.\n\n`permission_denied` (`KEY_OTHER_NAMESPACE`): The key is for another namespace, or for one alone.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error404": {
        "description": "`not_found`: The namespace has no memory with an id in `supersedes`.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error405": {
        "description": "`unimplemented`: The path is there, but not for this method; `Allow` says which to use.",
        "headers": {
          "Allow": {
            "description": "The methods that are served.",
            "schema": {
              "type": "string"
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error409": {
        "description": "`already_exists` (`EXTERNAL_ID_TAKEN`): Another memory has the external id; `metadata.id` of the details names it.\n\n`already_exists` (`IDEMPOTENCY_KEY_REUSED`): The Idempotency-Key was used for another request.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error415": {
        "description": "`invalid_argument`: The content type is not one that is served; send `Content-Type: application/json`.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error429": {
        "description": "`resource_exhausted` (`QUOTA_EXHAUSTED`): All calls of the account's plan are used. Waiting does not help.\n\n`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`INDEX_TOO_LARGE`): The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.\n\n`resource_exhausted` (`ABANDONED_WORK`): The account broke off too many calls while the model read their texts. Nothing was stored.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.\n\n`resource_exhausted` (`BODY_TOO_LARGE`): The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error500": {
        "description": "`internal`: A fault of ours. The server's log has it under the answer's `X-Request-ID`.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error503": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.\n\n`unavailable` (`STORAGE_NOT_WRITABLE`): The database cannot write; its disk may be full. Calls that only read go on.\n\n`unavailable` (`MODEL_BUSY`): The model has too much to read to be done before the call's deadline. Nothing was stored.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error504": {
        "description": "`deadline_exceeded`: The call took longer than the server, or the caller's own timeout, allows.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error400-2": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`invalid_argument` (`SECRET_FOUND`): The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.\n\n`failed_precondition` (`IDEMPOTENT_MEMORY_DELETED`): The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error409-2": {
        "description": "`already_exists` (`IDEMPOTENCY_KEY_REUSED`): The Idempotency-Key was used for another request.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error400-3": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error403-2": {
        "description": "`permission_denied` (`KEY_OTHER_NAMESPACE`): The key is for another namespace, or for one alone.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error404-2": {
        "description": "`not_found`: The namespace has no memory with this id, or there is no such namespace.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error429-2": {
        "description": "`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.\n\n`resource_exhausted` (`BODY_TOO_LARGE`): The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error503-2": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error409-3": {
        "description": "`aborted` (`ETAG_MISMATCH`): The memory was changed since its etag was read; `metadata.etag` of the details is the current one.\n\n`already_exists` (`IDEMPOTENCY_KEY_REUSED`): The Idempotency-Key was used for another request.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error503-3": {
        "description": "`unavailable`: The database or the model is away for now, or the server is too busy or shutting down. Try again.\n\n`unavailable` (`BODIES_LIMITED`): The bodies of all running calls fill the memory that is kept for them. Nothing was charged.\n\n`unavailable` (`STORAGE_NOT_WRITABLE`): The database cannot write; its disk may be full. Calls that only read go on.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error429-3": {
        "description": "`resource_exhausted` (`KEY_RATE_LIMITED`): The key makes more calls a second than its plan has. Nothing was read or charged.\n\n`resource_exhausted` (`CONCURRENCY_LIMITED`): The key has as many calls running as its plan allows. Nothing was read or charged.\n\n`resource_exhausted` (`INDEX_TOO_LARGE`): The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not.\n\n`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many unknown keys from this address, so this one was not looked up. Nothing was charged.\n\n`resource_exhausted` (`BODY_TOO_LARGE`): The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error400-4": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`NAMESPACE_NOT_EMPTY`): The namespace holds memories, and `force` is not set.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error400-5": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error403-3": {
        "description": "`permission_denied`: Sign-up is closed here: the operator makes the accounts.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error429-4": {
        "description": "`resource_exhausted` (`BODIES_LIMITED`): The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged.\n\n`resource_exhausted` (`RATE_LIMITED`): Too many sign-ups from this address, or altogether. `Retry-After` says when to try again.\n\n`resource_exhausted` (`BODY_TOO_LARGE`): The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608.",
        "headers": {
          "Retry-After": {
            "description": "Seconds to wait before trying again.",
            "schema": {
              "type": "integer",
              "minimum": 0
            }
          }
        },
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error400-6": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`KEYS_LIMIT`): The account has as many keys as it may.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error403-4": {
        "description": "`permission_denied` (`KEY_READ_ONLY`): The key may only read.\n\n`permission_denied` (`KEY_OTHER_NAMESPACE`): The key is for another namespace, or for one alone.\n\n`permission_denied` (`KEY_OF_CLIENT`): An application got the key by OAuth: it cannot manage the account.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error404-3": {
        "description": "`not_found`: The account has no key with this id.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      },
      "Error400-7": {
        "description": "`invalid_argument`: A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field.\n\n`failed_precondition` (`LAST_KEY`): The key is the account's last, and `force` is not set.\n\n`failed_precondition` (`PLAN_UNKNOWN`): The operator took the account's plan away, and must give it another one.",
        "content": {
          "application/json": {
            "schema": {
              "$ref": "#/components/schemas/Error"
            }
          }
        }
      }
    },
    "headers": {
      "X-Request-ID": {
        "description": "The call's id, also in the log.",
        "schema": {
          "type": "string"
        }
      },
      "RateLimit-Policy": {
        "description": "The rate and the concurrency that the key's plan allows it, if any, as draft-ietf-httpapi-ratelimit-headers-10 has them.",
        "schema": {
          "type": "string"
        },
        "example": "\"rate\";q=40;w=2, \"concurrency\";q=8;qu=\"concurrent-requests\""
      },
      "RateLimit": {
        "description": "What is left of them, at the process that answered.",
        "schema": {
          "type": "string"
        },
        "example": "\"rate\";r=37;t=1, \"concurrency\";r=6"
      },
      "Idempotent-Replayed": {
        "description": "`true` when an earlier call with this Idempotency-Key was answered, and this is its answer; else absent.",
        "schema": {
          "type": "string",
          "const": "true"
        }
      }
    }
  },
  "x-errors": [
    {
      "status": 400,
      "code": "invalid_argument",
      "when": "A field is missing, blank, too long, of the wrong type or unknown, or comes twice, or the body is not JSON in UTF-8. `details` holds a BadRequest that names the field."
    },
    {
      "status": 400,
      "code": "invalid_argument",
      "reason": "SECRET_FOUND",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory"
      ],
      "when": "The text or the metadata has what looks like a secret, and `on_secret` is REFUSE. `details` holds an ErrorInfo that names kinds and places. Nothing was charged."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "NAMESPACE_NOT_EMPTY",
      "rpcs": [
        "DeleteNamespace"
      ],
      "when": "The namespace holds memories, and `force` is not set."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "POSITION_GONE",
      "rpcs": [
        "WatchNamespace",
        "ExportMemories"
      ],
      "when": "The position is of another namespace, or of one that was dropped since; or it is dropped during an export."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "LAST_KEY",
      "rpcs": [
        "RevokeKey"
      ],
      "when": "The key is the account's last, and `force` is not set."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "KEYS_LIMIT",
      "rpcs": [
        "CreateKey"
      ],
      "when": "The account has as many keys as it may."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "PLAN_UNKNOWN",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "Recall",
        "GetMemory",
        "GetMemories",
        "GetNamespace",
        "ListMemories",
        "CountMemories",
        "ListNamespaces",
        "WatchNamespace",
        "ExportMemories",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount",
        "GetAccount",
        "GetUsage",
        "ListRecentCalls"
      ],
      "when": "The operator took the account's plan away, and must give it another one."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "IDEMPOTENT_MEMORY_DELETED",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory"
      ],
      "when": "The memory that this Idempotency-Key stored was deleted, or has expired. Use a new key to store it again."
    },
    {
      "status": 400,
      "code": "failed_precondition",
      "reason": "MEMORY_SUPERSEDED",
      "rpcs": [
        "Store",
        "UpdateMemory"
      ],
      "when": "The memory was superseded by another one, which `metadata.superseded_by` of the details names."
    },
    {
      "status": 401,
      "code": "unauthenticated",
      "headers": [
        "WWW-Authenticate"
      ],
      "when": "There is no key, it is mistyped, or nobody holds it (any more)."
    },
    {
      "status": 403,
      "code": "permission_denied",
      "reason": "KEY_READ_ONLY",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount"
      ],
      "when": "The key may only read."
    },
    {
      "status": 403,
      "code": "permission_denied",
      "reason": "KEY_OTHER_NAMESPACE",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "Recall",
        "GetMemory",
        "GetMemories",
        "GetNamespace",
        "ListMemories",
        "CountMemories",
        "WatchNamespace",
        "ExportMemories",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount"
      ],
      "when": "The key is for another namespace, or for one alone."
    },
    {
      "status": 403,
      "code": "permission_denied",
      "reason": "KEY_OF_CLIENT",
      "rpcs": [
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount"
      ],
      "when": "An application got the key by OAuth: it cannot manage the account."
    },
    {
      "status": 403,
      "code": "permission_denied",
      "rpcs": [
        "SignUp"
      ],
      "when": "Sign-up is closed here: the operator makes the accounts."
    },
    {
      "status": 404,
      "code": "not_found",
      "rpcs": [
        "GetMemory",
        "UpdateMemory",
        "DeleteMemory",
        "DeleteNamespace",
        "GetNamespace"
      ],
      "when": "The namespace has no memory with this id, or there is no such namespace."
    },
    {
      "status": 404,
      "code": "not_found",
      "rpcs": [
        "Store"
      ],
      "when": "The namespace has no memory with an id in `supersedes`."
    },
    {
      "status": 404,
      "code": "not_found",
      "rpcs": [
        "CreateKey",
        "RevokeKey"
      ],
      "when": "The account has no key with this id."
    },
    {
      "status": 405,
      "code": "unimplemented",
      "headers": [
        "Allow"
      ],
      "when": "The path is there, but not for this method; `Allow` says which to use."
    },
    {
      "status": 409,
      "code": "already_exists",
      "reason": "EXTERNAL_ID_TAKEN",
      "rpcs": [
        "Store"
      ],
      "when": "Another memory has the external id; `metadata.id` of the details names it."
    },
    {
      "status": 409,
      "code": "aborted",
      "reason": "ETAG_MISMATCH",
      "rpcs": [
        "UpdateMemory"
      ],
      "when": "The memory was changed since its etag was read; `metadata.etag` of the details is the current one."
    },
    {
      "status": 409,
      "code": "already_exists",
      "reason": "IDEMPOTENCY_KEY_REUSED",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory"
      ],
      "when": "The Idempotency-Key was used for another request."
    },
    {
      "status": 413,
      "code": "resource_exhausted",
      "reason": "BODY_TOO_LARGE",
      "on": "rest",
      "when": "The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608."
    },
    {
      "status": 415,
      "code": "invalid_argument",
      "when": "The content type is not one that is served; send `Content-Type: application/json`."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "QUOTA_EXHAUSTED",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "Recall"
      ],
      "when": "All calls of the account's plan are used. Waiting does not help."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "KEY_RATE_LIMITED",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "Recall",
        "GetMemory",
        "GetMemories",
        "GetNamespace",
        "ListMemories",
        "CountMemories",
        "ListNamespaces",
        "WatchNamespace",
        "ExportMemories",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount",
        "GetAccount",
        "GetUsage",
        "ListRecentCalls"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "The key makes more calls a second than its plan has. Nothing was read or charged."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "CONCURRENCY_LIMITED",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "Recall",
        "GetMemory",
        "GetMemories",
        "GetNamespace",
        "ListMemories",
        "CountMemories",
        "ListNamespaces",
        "WatchNamespace",
        "ExportMemories",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount",
        "GetAccount",
        "GetUsage",
        "ListRecentCalls"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "The key has as many calls running as its plan allows. Nothing was read or charged."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "STREAMS_LIMITED",
      "rpcs": [
        "WatchNamespace",
        "ExportMemories"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "The key or its account has as many watches or exports open as it may."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "INDEX_TOO_LARGE",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "Recall",
        "UpdateMemories",
        "DeleteMemories",
        "ListMemories",
        "CountMemories"
      ],
      "when": "The namespace's index alone is larger than `INDEX_MEMORY_BYTES_MAX`. Deleting memories helps, waiting does not."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "ABANDONED_WORK",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "Recall"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "The account broke off too many calls while the model read their texts. Nothing was stored."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "BODIES_LIMITED",
      "headers": [
        "Retry-After"
      ],
      "when": "The bodies of the caller's running calls fill the memory that is kept for them. Nothing was charged."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "RATE_LIMITED",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "Recall",
        "GetMemory",
        "GetMemories",
        "GetNamespace",
        "ListMemories",
        "CountMemories",
        "ListNamespaces",
        "WatchNamespace",
        "ExportMemories",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount",
        "GetAccount",
        "GetUsage",
        "ListRecentCalls"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "Too many unknown keys from this address, so this one was not looked up. Nothing was charged."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "RATE_LIMITED",
      "rpcs": [
        "SignUp"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "Too many sign-ups from this address, or altogether. `Retry-After` says when to try again."
    },
    {
      "status": 429,
      "code": "resource_exhausted",
      "reason": "BODY_TOO_LARGE",
      "on": "rpc",
      "when": "The body is larger than 1,048,576 bytes; of StoreBatch, than 8,388,608."
    },
    {
      "status": 500,
      "code": "internal",
      "when": "A fault of ours. The server's log has it under the answer's `X-Request-ID`."
    },
    {
      "status": 503,
      "code": "unavailable",
      "headers": [
        "Retry-After"
      ],
      "when": "The database or the model is away for now, or the server is too busy or shutting down. Try again."
    },
    {
      "status": 503,
      "code": "unavailable",
      "reason": "BODIES_LIMITED",
      "headers": [
        "Retry-After"
      ],
      "when": "The bodies of all running calls fill the memory that is kept for them. Nothing was charged."
    },
    {
      "status": 503,
      "code": "unavailable",
      "reason": "STREAMS_LIMITED",
      "rpcs": [
        "WatchNamespace",
        "ExportMemories"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "The server has as many watches or exports open as it may."
    },
    {
      "status": 503,
      "code": "unavailable",
      "reason": "STORAGE_NOT_WRITABLE",
      "headers": [
        "Retry-After"
      ],
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "UpdateMemories",
        "DeleteMemory",
        "DeleteMemories",
        "DeleteNamespace",
        "DeleteNamespaces",
        "CreateKey",
        "ListKeys",
        "RevokeKey",
        "CloseAccount",
        "SignUp",
        "Recall"
      ],
      "when": "The database cannot write; its disk may be full. Calls that only read go on."
    },
    {
      "status": 503,
      "code": "unavailable",
      "reason": "MODEL_BUSY",
      "rpcs": [
        "Store",
        "StoreBatch",
        "UpdateMemory",
        "Recall"
      ],
      "headers": [
        "Retry-After"
      ],
      "when": "The model has too much to read to be done before the call's deadline. Nothing was stored."
    },
    {
      "status": 504,
      "code": "deadline_exceeded",
      "when": "The call took longer than the server, or the caller's own timeout, allows."
    }
  ]
};
