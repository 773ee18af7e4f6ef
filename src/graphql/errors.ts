import { GraphQLError, isValueNode } from 'graphql';
import type { Logger } from 'pino';

import {
  BadInputError,
  CountTimedOutError,
  CursorExpiredError,
  type InputIssue,
  NotFoundError,
  UnauthenticatedError,
} from '../errors.ts';

/** All that a client learns of what is our fault. */
export const MASKED_MESSAGE = 'Internal server error. The operator finds it under the request id.';

/** Nothing was run. `spec` leaves it to what the client accepts whether that is 400 or 200. */
const REFUSED_REQUEST = { status: 400, spec: true };

/**
 * Gives an error the form in which a client sees it: `extensions.code` always, `issues` where the
 * input is at fault. Whatever is not a refusal on purpose is logged under the request's id and
 * masked, so that nothing internal leaves the process.
 */
export function toClientError(error: GraphQLError, requestId: string, log: Logger): GraphQLError {
  const cause = findCause(error);
  if (cause instanceof BadInputError) {
    const http = error.path ? undefined : REFUSED_REQUEST;
    return rewrite(error, cause.message, { code: 'BAD_USER_INPUT', issues: cause.issues, http });
  }
  if (cause instanceof NotFoundError) return rewrite(error, cause.message, { code: 'NOT_FOUND' });
  if (cause instanceof CursorExpiredError) {
    const { oldestCursor } = cause;
    return rewrite(error, cause.message, { code: 'CURSOR_EXPIRED', oldestCursor });
  }
  if (cause instanceof CountTimedOutError) {
    return rewrite(error, cause.message, { code: 'QUERY_TOO_COSTLY' });
  }
  if (cause instanceof UnauthenticatedError) {
    const http = { status: 401, headers: { 'WWW-Authenticate': 'Bearer' } };
    return rewrite(error, cause.message, { code: 'UNAUTHENTICATED', http });
  }
  if (cause instanceof RangeError && error.path === undefined) {
    // The stack of GraphQL's parser, before anything ran.
    const message = 'The document is nested too deeply.';
    return rewrite(error, message, {
      code: 'BAD_USER_INPUT',
      issues: [{ path: [], message }],
      http: REFUSED_REQUEST,
    });
  }
  if (isRequestFault(error, cause)) {
    const given = error.extensions.issues as InputIssue[] | undefined;
    const { issues, message } = new BadInputError(given ?? [{ path: [], message: error.message }]);
    const http = error.extensions.http ?? REFUSED_REQUEST;
    return rewrite(error, message, { code: 'BAD_USER_INPUT', issues, http });
  }
  log.error({ requestId, path: error.path, err: cause }, 'a request failed unexpectedly');
  const http = error.path ? undefined : { status: 500 };
  return rewrite(error, MASKED_MESSAGE, { code: 'INTERNAL_SERVER_ERROR', requestId, http });
}

function findCause(error: GraphQLError): Error {
  let cause: Error = error;
  while (cause instanceof GraphQLError && cause.originalError) cause = cause.originalError;
  return cause;
}

/**
 * GraphQL's own refusals of a document, its variables or the HTTP request around it. A GraphQLError
 * from within the execution of a field is one only when it points at a value in the document, which
 * an argument was to have: any other, as from the serialisation of a scalar, is our fault.
 */
function isRequestFault(error: GraphQLError, cause: Error): boolean {
  if (!(cause instanceof GraphQLError) || error.extensions.unexpected) return false;
  if (error.path === undefined) return true;
  const [node] = cause.nodes ?? [];
  return node !== undefined && isValueNode(node);
}

function rewrite(
  error: GraphQLError,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError {
  const { nodes, source, positions, path } = error;
  return new GraphQLError(message, { nodes, source, positions, path, extensions });
}
