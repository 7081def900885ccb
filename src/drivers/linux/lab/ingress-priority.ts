/**
 * Of chains on ingress: what a port never receives comes first, then what damages it, then the port's own check.
 */
export const INGRESS_PRIORITY = { loss: -500, damage: -400, check: -350 } as const;
