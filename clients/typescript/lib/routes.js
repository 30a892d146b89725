/** What the generated types say of a route: its parameters, its body and its answer. */
export {};
