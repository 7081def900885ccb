/**
 * What versions after 5e5372a add to what they answer, with the reason. Anything else that differs is a change, and
 * a change is recorded anew by the commit that makes it.
 */
export interface Addition {
  /** Of the file, a slash and the place within it, such as `rest/runs.json/3/body/suspendCode`. */
  where: RegExp;
  why: string;
}

export const ADDED: readonly Addition[] = [
  {
    where: /^(database\/answers|rest\/schedules)[.]json\/.*\/suspendCode$/,
    why: 'programs are told by a name why a schedule is suspended; the reason is for people',
  },
  {
    where: /^(rest\/.*\/body|database\/answers[.]json\/.*)\/remarks(\/|$)/,
    why: 'odd wiring is told with the fabric, before any drill',
  },
  {
    where: /\/(verdict|body)\/(firstLine|remarks|notes)$/,
    why: 'what an operator asks first, what is odd and cost nothing, what the evidence has wrong',
  },
  {
    where: /\/body\/(code|params)$/,
    why: 'programs are told by a name what went wrong, and of what; the detail is for people',
  },
];
