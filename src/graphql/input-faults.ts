import {
  type ASTNode,
  BREAK,
  coerceInputValue,
  type DocumentNode,
  getOperationAST,
  GraphQLError,
  type GraphQLInputType,
  type GraphQLSchema,
  isInputType,
  Kind,
  type OperationDefinitionNode,
  typeFromAST,
  type VariableDefinitionNode,
  visit,
} from 'graphql';

import { BadInputError, type InputIssue, MAX_ISSUES } from '../errors.ts';

type Path = InputIssue['path'];

interface Execution {
  schema: GraphQLSchema;
  document: DocumentNode;
  operationName?: string | null;
  variableValues?: Record<string, unknown> | null;
}

/**
 * Says where the variables of an operation are wrong that GraphQL refused to execute: one issue
 * for each value, its path beginning at the argument that the variable goes into. GraphQL's own
 * error names the variable and carries no code. Null when the variables are not at fault.
 */
export function findVariableFaults(execution: Execution): GraphQLError | null {
  const { schema, document, operationName, variableValues } = execution;
  const operation = getOperationAST(document, operationName);
  if (!operation) return null;
  const issues: InputIssue[] = [];
  const nodes: ASTNode[] = [];
  for (const definition of operation.variableDefinitions ?? []) {
    const name = definition.variable.name.value;
    const type = typeFromAST(schema, definition.type);
    if (!isInputType(type)) continue;
    const faults = findFaults(definition, type, variableValues?.[name], MAX_ISSUES - issues.length);
    if (faults.length === 0) continue;
    const use = findUse(document, operation, name);
    for (const { path, message } of faults) issues.push({ path: [...use, ...path], message });
    nodes.push(definition);
    if (issues.length === MAX_ISSUES) break;
  }
  if (issues.length === 0) return null;
  const originalError = new BadInputError(issues);
  return new GraphQLError(originalError.message, { nodes, originalError });
}

/** What is wrong with the value of one variable, up to a number of faults; paths begin inside it. */
function findFaults(
  definition: VariableDefinitionNode,
  type: GraphQLInputType,
  value: unknown,
  limit: number,
): InputIssue[] {
  const name = definition.variable.name.value;
  if (value === undefined) {
    const isRequired = definition.type.kind === Kind.NON_NULL_TYPE && !definition.defaultValue;
    return isRequired
      ? [{ path: [], message: `the variable $${name} is required, and was not given` }]
      : [];
  }
  const faults: InputIssue[] = [];
  try {
    coerceInputValue(value, type, (path, _, { message }) => {
      // A oneOf field that is null is in the path already.
      const field = fieldOf(message).filter((name) => name !== path.at(-1));
      const place = [...path, ...field];
      faults.push({ path: place, message: `${message} (in the variable $${name})` });
      // Nobody reads on, and a hostile value may have millions.
      if (faults.length >= limit) throw STOP;
    });
  } catch (error) {
    if (error !== STOP) throw error;
  }
  return faults;
}

const STOP = new Error('There are enough faults.');

/**
 * Gives the errors of a validation their issues: the path, from the argument on, of the place in
 * the document that each points at. The document is walked once for all of them.
 */
export function addIssues(document: DocumentNode, errors: readonly GraphQLError[]): void {
  const wanted = new Set(errors.flatMap(({ nodes }) => nodes?.slice(0, 1) ?? []));
  const paths = findPaths(document, (node) => wanted.has(node), wanted.size);
  for (const error of errors) {
    const [node] = error.nodes ?? [];
    const path = (node && paths.get(node)) ?? [];
    const field = node?.kind === Kind.OBJECT ? fieldOf(error.message) : [];
    error.extensions.issues ??= [{ path: [...path, ...field], message: error.message }];
  }
}

/** The field that GraphQL's message is about where it points at the object that lacks it. */
function fieldOf(message: string): string[] {
  const field = /^Field "(?:\w+\.)?(\w+)"/.exec(message)?.[1];
  return field ? [field] : [];
}

/** Where a variable is used first; its own name where it is not. */
function findUse(document: DocumentNode, operation: OperationDefinitionNode, name: string): Path {
  const isUse = (node: ASTNode) => node.kind === Kind.VARIABLE && node.name.value === name;
  const roots: ASTNode[] = [
    operation.selectionSet,
    ...document.definitions.filter((d) => d.kind === Kind.FRAGMENT_DEFINITION),
  ];
  for (const root of roots) {
    const [use] = findPaths(root, isUse, 1).values();
    if (use?.length) return use;
  }
  return [name];
}

/** The paths of the first `limit` nodes that are wanted, each from the argument on that it is in. */
function findPaths(
  root: ASTNode,
  isWanted: (node: ASTNode) => boolean,
  limit: number,
): Map<ASTNode, Path> {
  const paths = new Map<ASTNode, Path>();
  visit(root, {
    enter(node, _key, parent, keys, ancestors) {
      if (paths.size === limit) return BREAK;
      if (!parent || !isWanted(node)) return undefined;
      // One step for each key; the root has none.
      const steps = [...ancestors, parent, node].slice(1);
      const path = keys.flatMap((key, index) => toPathStep(steps[index], key, keys[index - 1]));
      paths.set(node, path);
      return undefined;
    },
  });
  return paths;
}

/** What one step on the way down to a value adds to its path: an argument, a field, a place in a list. */
function toPathStep(
  step: ASTNode | readonly ASTNode[] | undefined,
  key: string | number,
  keyAbove: string | number | undefined,
): Path {
  if (step && 'kind' in step && (step.kind === Kind.ARGUMENT || step.kind === Kind.OBJECT_FIELD)) {
    return [step.name.value];
  }
  return keyAbove === 'values' ? [key] : [];
}
