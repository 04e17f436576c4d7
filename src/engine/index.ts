export type { Admission, Engine, ResumeOptions, StartOptions, SubmitOptions, Thread } from './port.js';
