/** What a port is called within its device: `p2`, `nic-0`. @param port `leaf-1/p2` */
export const interfaceWord = (port: string): string => port.slice(port.lastIndexOf('/') + 1);
