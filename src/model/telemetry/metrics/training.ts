/**
 * Metrics of jobs, ranks and rank pairs, from the framework, the scheduler and NCCL.
 *
 * Bandwidths follow nccl-tests (PERFORMANCE.md); what ranks and their connections do is what an NCCL profiler plug-in can
 * tell. Step figures are logged at each step end, counters are polled. What the scheduler knows of jobs and hosts is
 * logged when it changes. A p99 here is the smallest of the values that at least 99 % of them do not exceed, all values of
 * one poll interval taken alike (nearest rank): with fewer than a hundred it is the largest. An interval in which nothing
 * ended has no latency: N/A.
 */
import type { MetricDefinition } from './definition.js';

export const TRAINING_METRICS = [
  {
    name: 'job_state',
    element: 'job',
    kind: 'state',
    unit: '1 running, 0 failed, 2 waiting for its restart, 3 complete',
    sampling: 'on-change',
    description: 'what the scheduler says of the job',
    sources: {
      training:
        'Slurm JobState (RUNNING, FAILED, PENDING after a requeue, COMPLETED); Kubernetes Job conditions',
      prometheus: 'kube_job_status_failed, kube_pod_status_phase',
    },
  },
  {
    name: 'job_steps',
    element: 'job',
    kind: 'counter',
    unit: 'steps',
    sampling: 'on-change',
    description:
      'training steps completed; one sample at each step end, and one where a restart takes the count back to a checkpoint',
    sources: { training: 'framework step log' },
  },
  {
    name: 'job_step_time_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'on-change',
    description: 'duration of the step that just ended, a checkpoint after it not included',
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
    name: 'job_allreduce_latency_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description:
      'mean duration of the AllReduce collectives that ended since the last poll, from the last rank that joined to the end',
    sources: { training: 'NCCL profiler plug-in, collective events' },
  },
  {
    name: 'job_allreduce_latency_p99_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description: 'p99 of the same durations',
    sources: { training: 'NCCL profiler plug-in, collective events' },
  },
  {
    name: 'job_alltoall_latency_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description: 'mean duration of the AllToAll collectives that ended since the last poll',
    sources: { training: 'NCCL profiler plug-in, collective events (grouped sends and receives)' },
  },
  {
    name: 'job_alltoall_latency_p99_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description: 'p99 of the same durations',
    sources: { training: 'NCCL profiler plug-in, collective events (grouped sends and receives)' },
  },
  {
    name: 'job_flow_p99_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'poll',
    description:
      'p99 of the completion times of the flows that ended since the last poll; a ring or tree, whose edges move together, is one flow',
    sources: { training: 'NCCL profiler plug-in, proxy operation events' },
  },
  {
    name: 'job_checkpoint_time_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'on-change',
    description:
      'how long the job stood still for the checkpoint that was just written; N/A before the first',
    sources: { training: 'framework checkpoint log' },
  },
  {
    name: 'job_restarts',
    element: 'job',
    kind: 'counter',
    unit: 'restarts',
    sampling: 'on-change',
    description: 'times the job was started again; one sample when it trains again',
    sources: {
      training: 'Slurm Restarts; torchrun restart count',
      prometheus: 'kube_pod_container_status_restarts_total',
    },
  },
  {
    name: 'job_redone_steps',
    element: 'job',
    kind: 'counter',
    unit: 'steps',
    sampling: 'on-change',
    description:
      'completed steps that restarts have thrown away and that have to be done again; one sample when it rises',
    sources: { training: 'framework log: last step before the restart less the step of the checkpoint' },
  },
  {
    name: 'job_completion_time_s',
    element: 'job',
    kind: 'gauge',
    unit: 's',
    sampling: 'on-change',
    description: 'from the start of the job to its end; N/A until it is complete',
    sources: { training: 'Slurm EndTime less StartTime', prometheus: 'kube_job_status_completion_time' },
  },
  {
    name: 'host_drained',
    element: 'device',
    kind: 'state',
    unit: '1 drained, 0 schedulable',
    sampling: 'on-change',
    description: 'whether the scheduler keeps new work away from the host; hosts only',
    sources: { training: 'Slurm node state DRAIN', prometheus: 'kube_node_spec_unschedulable' },
  },
  {
    name: 'host_allocated_gpus',
    element: 'device',
    kind: 'state',
    unit: 'GPUs',
    sampling: 'on-change',
    description: 'GPUs of the host that the scheduler has given to jobs; hosts only',
    sources: {
      training: 'Slurm AllocTRES gres/gpu',
      prometheus: 'kube_pod_container_resource_requests{resource="nvidia_com_gpu"} summed by node',
    },
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
