/** Marks routes that answer without a token: probes of an orchestrator have none. */
import { SetMetadata } from '@nestjs/common';

export const PUBLIC = 'fabricdrill public route';

/** For a controller or a handler whose answers tell nothing that needs protection. */
export const Public = () => SetMetadata(PUBLIC, true);
