/**
 * Metrics of jobs, ranks and rank pairs, from the framework, the scheduler and NCCL.
 *
 * Bandwidths follow nccl-tests (PERFORMANCE.md); what ranks and their connections do is what an NCCL profiler plug-in can
 * tell. Step figures are logged at each step end, counters are polled.
 */
import type { MetricDefinition } from './definition.js';

export const TRAINING_METRICS = [
  {
    name: 'job_state',
    element: 'job',
    kind: 'state',
    unit: '1 running, 0 failed',
    sampling: 'on-change',
    description: 'whether the job still runs',
    sources: { training: 'scheduler job state' },
  },
  {
    name: 'job_steps',
    element: 'job',
    kind: 'counter',
    unit: 'steps',
    sampling: 'on-change',
    description: 'training steps completed; one sample at each step end',
    sources: { training: 'framework step log' },
  },
  {
    name: 'job_step_time_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'on-change',
    description: 'duration of the step that just ended',
    sources: { training: 'framework step log' },
  },
  {
    name: 'job_gpu_utilisation',
    element: 'job',
    kind: 'gauge',
    unit: 'ratio',
    sampling: 'on-change',
    description: 'share of the step that just ended in which GPUs did not wait for the network',
    sources: { training: 'profiler; DCGM_FI_DEV_GPU_UTIL does not show it, since NCCL spins' },
  },
  {
    name: 'job_algbw_gbytes_per_s',
    element: 'job',
    kind: 'gauge',
    unit: 'GB/s',
    sampling: 'on-change',
    description:
      'algorithm bandwidth of the largest fabric collective of the step that just ended (bytes / time)',
    sources: { training: 'NCCL profiler, nccl-tests algbw' },
  },
  {
    name: 'job_busbw_gbytes_per_s',
    element: 'job',
    kind: 'gauge',
    unit: 'GB/s',
    sampling: 'on-change',
    description: 'bus bandwidth of the same collective (algbw × factor of nccl-tests)',
    sources: { training: 'NCCL profiler, nccl-tests busbw' },
  },
  {
    name: 'rank_compute_time_s',
    element: 'rank',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description: 'time in which the rank computed in the last step that ended',
    sources: { training: 'framework timers around forward and backward passes (CUDA events)' },
  },
  {
    name: 'rank_wait_time_s',
    element: 'rank',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description: 'rest of that step: the rank waited in collectives, for slower ranks or for the network',
    sources: { training: 'NCCL profiler plug-in, collective events less overlap with computation' },
  },
  {
    name: 'edge_tx_bytes',
    element: 'edge',
    kind: 'counter',
    unit: 'bytes',
    sampling: 'poll',
    description: 'payload bytes one rank has delivered to another over the fabric',
    sources: { training: 'NCCL profiler plug-in, proxy step events' },
  },
  {
    name: 'edge_stalled_s',
    element: 'edge',
    kind: 'counter',
    unit: 's',
    sampling: 'poll',
    description: 'time in which the edge had data to send and nothing was acknowledged',
    sources: { training: 'NCCL profiler plug-in, proxy step events' },
  },
] as const satisfies readonly MetricDefinition[];
