/** An expression, as far as it can be understood without running Terraform. */
export type Expression =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null; readonly start: number }
  /** A string with `${…}` in it. */
  | { readonly kind: "template"; readonly parts: readonly (string | Expression)[]; readonly start: number }
  | { readonly kind: "list"; readonly items: readonly Expression[]; readonly start: number }
  | { readonly kind: "map"; readonly entries: readonly (readonly [Expression, Expression])[]; readonly start: number }
  /** `var.x.y`, `each.value`, `google_container_node_pool.a`. */
  | { readonly kind: "reference"; readonly path: readonly string[]; readonly start: number }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Expression[]; readonly start: number }
  | {
      readonly kind: "choice";
      readonly test: Expression;
      readonly yes: Expression;
      readonly no: Expression;
      readonly start: number;
    }
  | { readonly kind: "unknown"; readonly start: number };

/** `name = value`. */
export interface Attribute {
  readonly name: string;
  readonly value: Expression;
  readonly start: number;
  readonly end: number;
}

/** `type "label" { … }`. */
export interface Block {
  readonly type: string;
  readonly labels: readonly string[];
  readonly body: Body;
  readonly start: number;
  readonly end: number;
}

/** What stands between braces, or in a whole file. */
export interface Body {
  readonly attributes: readonly Attribute[];
  readonly blocks: readonly Block[];
}
