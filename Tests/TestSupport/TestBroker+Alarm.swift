/// The memory alarm of the shared broker. It touches every connection: only for suites that run apart.
extension TestBroker {
    /// The broker's present memory watermark, in the form rabbitmqctl takes.
    public func memoryLimit() throws -> String {
        let limit = try control("eval", "vm_memory_monitor:get_vm_memory_high_watermark().")
        // "{absolute,1073741824}" or "{absolute,\"1024MB\"}"
        let value = limit.drop { $0 != "," }.dropFirst().prefix { $0 != "}" }.filter { $0 != "\"" && $0 != " " }
        guard limit.contains("absolute"), !value.isEmpty else {
            throw Command.Failure(description: "the broker's memory limit is not absolute: \(limit)")
        }
        return value
    }

    /// Sets the watermark: below what the broker uses the alarm is raised, above it ends.
    public func limitMemory(_ limit: String) throws {
        try control("set_vm_memory_high_watermark", "absolute", limit)
    }
}
