/** Why a tick of a schedule can't start: its real fabric was not confirmed. Apart, since both the store and the start ask. */
import { CONFIRMATION_REQUIRED } from '../fabrics/confirmation.js';
import { ConflictError } from '../../system/errors.js';

/** @returns undefined for any other error than that of a missing confirmation */
export const unconfirmedReason = (error: unknown): string | undefined =>
  error instanceof ConflictError && error.code === CONFIRMATION_REQUIRED
    ? `${error.message}, and the schedule does not confirm it; store it again with confirm: ${error.params?.fabric}`
    : undefined;
