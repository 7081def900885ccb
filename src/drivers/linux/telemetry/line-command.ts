/**
 * A command that stays and answers line by line: one process for a whole drill instead of one for every question.
 *
 * `ip -batch -`, `tc -batch -` and `nft -i` read a command a line and flush an answer of one line (JSON) after each. A
 * process that dies or does not answer in time is ended, and started anew for the next question. Starting a process for
 * each question would cost about ten times as much CPU; the collector must not disturb what it watches.
 */
import { spawn, type ChildProcess } from 'node:child_process';

/** A program that has just been started answers its first question so much later, on a busy machine. */
const START_MS = 8000;

interface Question {
  resolve: (answer: string) => void;
  reject: (error: Error) => void;
}

export class LineCommand {
  private child: ChildProcess | undefined;
  private questions: Question[] = [];
  private rest = '';
  private complaint = '';
  private closed = false;
  private hasAnswered = false;

  /** @param command the whole argument vector */
  constructor(private readonly command: readonly string[]) {}

  private get name(): string {
    return this.command.join(' ');
  }

  /** pid of the process, while there is one. */
  get pid(): number | undefined {
    return this.child?.pid;
  }

  /** @throws Error when there is no answer in time, or the program ends */
  ask(line: string, timeoutMs: number): Promise<string> {
    if (this.closed) return Promise.reject(new Error(`${this.name} is closed`));
    const child = (this.child ??= this.start());
    const patienceMs = timeoutMs + (this.hasAnswered ? 0 : START_MS);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.fail(new Error(`${this.name} gave no answer within ${patienceMs} ms`));
      }, patienceMs);
      this.questions.push({
        resolve: (answer) => {
          clearTimeout(timer);
          resolve(answer);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      child.stdin?.write(`${line}\n`);
    });
  }

  close(): void {
    this.closed = true;
    this.fail(new Error(`${this.name} is closed`));
  }

  private start(): ChildProcess {
    this.hasAnswered = false;
    const [program, ...args] = this.command;
    const child = spawn(program, args, { stdio: 'pipe' });
    child.stdin.on('error', () => undefined);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (child === this.child) this.take(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.complaint = (this.complaint + text).slice(-500);
    });
    const over = (why: string): void => {
      if (child === this.child) this.fail(new Error(`${this.name} ended: ${why}`));
    };
    child.once('error', (error) => over(error.message));
    child.once('close', (code) => over(this.complaint.trim() || `exit code ${code}`));
    return child;
  }

  private take(text: string): void {
    const lines = (this.rest + text).split('\n');
    this.rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.trim() === '') continue;
      this.hasAnswered = true;
      this.questions.shift()?.resolve(line);
    }
  }

  private fail(error: Error): void {
    const { child, questions } = this;
    this.child = undefined;
    this.questions = [];
    this.rest = '';
    this.complaint = '';
    child?.kill('SIGKILL');
    for (const { reject } of questions) reject(error);
  }
}
