/**
 * Errors of the REST boundary that are not about the content of an input; the problem filter gives each its status.
 */

export abstract class RequestError extends Error {
  constructor(
    message: string,
    /** The next step for the caller. */
    readonly hint?: string,
    /** A name that programs go by, and what it is about. */
    readonly code?: string,
    readonly params?: Readonly<Record<string, string>>,
  ) {
    super(message);
  }
}

/** 404: there is no such thing, or it is not yours to see. */
export class NotFoundError extends RequestError {
  override readonly name = 'NotFoundError';
}

/** 403: this server does not do that for whoever asks. */
export class ForbiddenError extends RequestError {
  override readonly name = 'ForbiddenError';
}

/** 409: the state of the thing does not allow it. */
export class ConflictError extends RequestError {
  override readonly name = 'ConflictError';
}
