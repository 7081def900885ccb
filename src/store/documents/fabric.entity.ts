/** A stored fabric: its document under its name. */
import { Column, Entity, PrimaryColumn } from 'typeorm';

@Entity({ name: 'fabrics' })
export class FabricEntity {
  @PrimaryColumn({ type: 'text' })
  name: string;

  /** The Fabric document as written (files inlined), as JSON with its keys in order. */
  @Column({ type: 'json' })
  definition: unknown;

  /** SHA-256 of the canonical JSON of the definition. */
  @Column({ type: 'text' })
  digest: string;

  @Column({ type: 'text' })
  driver: string;

  /** What lists show: counts of devices, links and GPUs. */
  @Column({ type: 'json' })
  summary: unknown;

  @Column({ name: 'created_at', type: 'timestamptz' })
  createdAt: Date;

  @Column({ name: 'updated_at', type: 'timestamptz' })
  updatedAt: Date;
}
