/** What a project's set-up hands to its test files: the kind of database and its template. */
type ProvidedDatabase =
  | { kind: 'embedded'; templateDir: string }
  | { kind: 'postgresql'; serverUrl: string; template: string };

declare module 'vitest' {
  export interface ProvidedContext {
    database: ProvidedDatabase;
  }
}
