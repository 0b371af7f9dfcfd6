/** Languages of the code that the portal shows. */
export type Language = "bash" | "json" | "python" | "typescript";
