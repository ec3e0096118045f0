// The failure of a tool of PostgreSQL's, apart from what runs them: the command line knows it without loading that.

/** One of PostgreSQL's tools is not there, or did not do what it was asked; the message says which, and its words. */
export class PostgresToolFailed extends Error {
  override readonly name = 'PostgresToolFailed';
}
