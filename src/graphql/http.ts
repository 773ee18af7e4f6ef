import type { IncomingMessage, ServerResponse } from 'node:http';

import { getOperationAST, GraphQLError, type GraphQLSchema } from 'graphql';
import { createYoga, type GraphQLParams, type Plugin } from 'graphql-yoga';
import type { Logger } from 'pino';

import { toClientError } from './errors.ts';
import { addIssues, findVariableFaults } from './input-faults.ts';

/**
 * The longest body that is read, in bytes: a bulk call of 100 records at the bounds of every field
 * fits, in plain UTF-8.
 */
const MAX_BODY_BYTES = 32 * 1024 * 1024;

/** The most characters of an operation's name that go into the log. */
const MAX_LOGGED_NAME = 100;

/** What is known of one HTTP request; GraphQL adds to it as it goes, and the log writes it. */
export interface RequestFacts {
  requestId: string;
  /** What goes into the request's log line besides what HTTP knows. Never personal data or a key. */
  logFields: {
    brandId?: string;
    apiKeyPrefix?: string;
    operationName?: string;
    errorCodes?: string[];
  };
}

interface ServerContext {
  req: IncomingMessage;
  res: ServerResponse;
  facts: RequestFacts;
}

interface GraphqlOptions<Caller, Context extends object> {
  schema: GraphQLSchema;
  /** The path that it answers at, as in `/graphql`. */
  path: string;
  /**
   * Turns the credential into whoever holds it, before the body is read.
   * Throws UnauthenticatedError, which answers 401.
   */
  authenticate: (token: string | null, facts: RequestFacts) => Promise<Caller>;
  /** What resolvers get; made anew for each operation. */
  createContext: (caller: Caller) => Context;
  log: Logger;
}

/** Answers a GraphQL request on Node's request and response. */
export type GraphqlHandler = (
  request: IncomingMessage,
  response: ServerResponse,
  facts: RequestFacts,
) => Promise<void>;

/**
 * GraphQL over HTTP by its specification, on one path: JSON bodies by POST, queries by GET, one
 * operation a request. Yoga does the protocol; the plugins below are this service's own rules.
 */
export function createGraphqlHandler<Caller extends object, Context extends object>(
  options: GraphqlOptions<Caller, Context>,
): GraphqlHandler {
  const { schema, path, authenticate, createContext, log } = options;
  const callers = new WeakMap<Request, Caller>();
  const yoga = createYoga<ServerContext, Context>({
    schema,
    graphqlEndpoint: path,
    context: ({ request }) => createContext(callers.get(request) as Caller),
    // Errors are given their client form in one place, `useClientErrors`.
    maskedErrors: false,
    logging: false,
    graphiql: false,
    landingPage: false,
    multipart: false,
    batching: false,
    maxRequestBodySize: MAX_BODY_BYTES,
    // Any origin may ask: there are no cookies, and the key in the request is what counts.
    cors: {
      origin: '*',
      credentials: false,
      methods: ['GET', 'POST'],
      exposedHeaders: ['x-request-id'],
      maxAge: 86_400,
    },
    plugins: [
      useCredential(authenticate, callers, log),
      useJsonOnly(),
      useInputFaults(),
      useClientErrors(log),
    ],
  });
  return async (request, response, facts) => {
    await yoga(request, response, { facts } as ServerContext);
  };
}

/** Refuses a request without a good credential before anything of its body is read. */
function useCredential<Caller extends object>(
  authenticate: GraphqlOptions<Caller, object>['authenticate'],
  callers: WeakMap<Request, Caller>,
  log: Logger,
): Plugin<{}, ServerContext> {
  return {
    async onRequest({ request, serverContext, endResponse, fetchAPI }) {
      if (request.method === 'OPTIONS') return;
      const { facts } = serverContext;
      try {
        callers.set(request, await authenticate(readBearer(request.headers), facts));
      } catch (cause) {
        const thrown = cause instanceof Error ? cause : new Error(String(cause));
        const error = new GraphQLError(thrown.message, { originalError: thrown });
        const { message, extensions } = toClientError(error, facts.requestId, log);
        const { http, ...shown } = extensions as { http?: { status: number; headers?: object } };
        facts.logFields.errorCodes = [String(extensions.code)];
        endResponse(
          fetchAPI.Response.json(
            { errors: [{ message, extensions: shown }] },
            {
              status: http?.status ?? 500,
              headers: { ...http?.headers, 'Content-Type': answerType(request) },
            },
          ),
        );
      }
    },
  };
}

function readBearer(headers: Headers): string | null {
  return /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1] ?? null;
}

function answerType(request: Request): string {
  const accepted = request.headers.get('accept') ?? '';
  const type = accepted.includes('application/graphql-response+json')
    ? 'application/graphql-response+json'
    : 'application/json';
  return `${type}; charset=utf-8`;
}

/**
 * Takes JSON in UTF-8 and nothing else. Yoga would take forms and bare documents too, which a page
 * of any site may send without a preflight, and would put U+FFFD for bytes that are no UTF-8, so
 * that different storeIds became one.
 */
function useJsonOnly(): Plugin<{}, ServerContext> {
  return {
    onRequestParse({ request, url, setRequestParser }) {
      if (request.method === 'POST') {
        checkContentType(request.headers.get('content-type') ?? '');
        setRequestParser(parseJsonBody);
      }
      for (const name of ['variables', 'extensions']) {
        const text = url.searchParams.get(name);
        if (text) parseJson(text, `The parameter ${name} is no JSON.`);
      }
    },
  };
}

function checkContentType(contentType: string): void {
  const [type, ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((part) => part.trim());
  const isUtf8 = parameters.every(
    (p) => !p.startsWith('charset=') || /^charset="?utf-?8"?$/.test(p),
  );
  if (type === 'application/json' && isUtf8) return;
  throw refuseRequest(
    415,
    'The body must be JSON in UTF-8: send it with Content-Type: application/json.',
  );
}

async function parseJsonBody(request: Request): Promise<GraphQLParams> {
  const bytes = await request.arrayBuffer();
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw refuseRequest(400, 'The body is not in UTF-8.');
  }
  const body = parseJson(text, 'The body is no JSON.');
  if (typeof body === 'object' && body !== null) return body;
  throw refuseRequest(400, 'The body must be a JSON object.');
}

function parseJson(text: string, complaint: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refuseRequest(400, complaint);
  }
}

/** The refusal of a request that is no GraphQL request, with its status for every client. */
function refuseRequest(status: number, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { http: { status } } });
}

/** Says where in the arguments GraphQL's own refusals of input lie. */
function useInputFaults(): Plugin<{}, ServerContext> {
  return {
    onValidate({ params }) {
      return ({ valid, result }) => {
        if (!valid) addIssues(params.documentAST, result as GraphQLError[]);
      };
    },
    onExecute({ args }) {
      return {
        onExecuteDone({ result, setResult }) {
          if (!('errors' in result) || 'data' in result) return;
          const fault = findVariableFaults(args);
          if (fault) setResult({ errors: [fault] });
        },
      };
    },
  };
}

/** Gives every error its client form, and keeps the codes and the operation's name for the log. */
function useClientErrors(log: Logger): Plugin<{}, ServerContext> {
  return {
    onExecute({ args }) {
      const name = getOperationAST(args.document, args.operationName)?.name?.value;
      const { facts } = args.contextValue as unknown as ServerContext;
      if (name) facts.logFields.operationName = name.slice(0, MAX_LOGGED_NAME);
    },
    onResultProcess({ result, setResult, serverContext }) {
      if (!('errors' in result) || !result.errors) return;
      const { facts } = serverContext;
      const errors = result.errors.map((error) => toClientError(error, facts.requestId, log));
      facts.logFields.errorCodes = [
        ...new Set(errors.map((error) => String(error.extensions.code))),
      ];
      setResult({ ...result, errors });
    },
  };
}
