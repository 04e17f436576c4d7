export type { ModelCapabilities, ModelEvent, ModelItem, ModelProvider, ModelRequest, ToolSpec } from './port.js';
