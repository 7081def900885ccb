/** A diagnosis of a run that came from outside, or an alert that belongs to no run. */
import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { Verdict } from '../../diagnosis/verdict.js';
import type { Score } from '../../scoring/scorecard.js';

export const DIAGNOSIS_SOURCES = ['api', 'alertmanager'] as const;
export type DiagnosisSource = (typeof DIAGNOSIS_SOURCES)[number];

/** As Alertmanager sent it. */
export interface Alert {
  status: 'firing' | 'resolved';
  labels: Record<string, string>;
  startsAt: string;
  endsAt?: string;
  fingerprint?: string;
}

@Entity({ name: 'run_diagnoses' })
export class DiagnosisEntity {
  @PrimaryColumn('uuid')
  id: string;

  /** Null for alerts that belong to no run. */
  @Column({ name: 'run_id', type: 'uuid', nullable: true })
  runId: string | null;

  @Column({ type: 'text' })
  source: DiagnosisSource;

  /** Who says so: a team, a monitoring system, a receiver of alerts. */
  @Column({ type: 'text' })
  author: string;

  @Column({ type: 'json', nullable: true })
  verdict: Verdict | null;

  /** What it was made from, where that is alerts. */
  @Column({ type: 'json', nullable: true })
  alerts: Alert[] | null;

  /** Why it belongs to no run. */
  @Column({ type: 'text', nullable: true })
  reason: string | null;

  /** Explainability, once the run has ended. */
  @Column({ type: 'json', nullable: true })
  score: Score | null;

  /** Given while nobody could read the truth. */
  @Column({ name: 'before_end', type: 'boolean' })
  beforeEnd: boolean;

  @Column({ name: 'received_at', type: 'timestamptz' })
  receivedAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;

  @Column({ name: 'scored_at', type: 'timestamptz', nullable: true })
  scoredAt: Date | null;
}
