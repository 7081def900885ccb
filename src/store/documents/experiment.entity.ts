/** A stored experiment. A name may have several contents over time; name and content together are unique. */
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'experiments' })
export class ExperimentEntity {
  @PrimaryColumn('uuid')
  id: string;

  @Column({ type: 'text' })
  name: string;

  /** The Experiment document as written, as JSON with its keys in order. */
  @Column({ type: 'json' })
  definition: unknown;

  /** SHA-256 of the canonical JSON of the definition. */
  @Column({ type: 'text' })
  digest: string;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;
}
