/**
 * Errors of the REST boundary that are not about the content of an input; the problem filter gives each its status.
 */

abstract class RequestError extends Error {
  constructor(
    message: string,
    /** The next step for the caller. */
    readonly hint?: string,
  ) {
    super(message);
  }
}

/** 404: there is no such thing, or it is not yours to see. */
export class NotFoundError extends RequestError {
  override readonly name = 'NotFoundError';
}

/** 409: the state of the thing does not allow it. */
export class ConflictError extends RequestError {
  override readonly name = 'ConflictError';
}
