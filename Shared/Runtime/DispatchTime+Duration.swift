import Dispatch

extension DispatchTime {
    /// The moment `duration` after `time`; durations beyond what fits count as "for ever".
    static func + (time: DispatchTime, duration: Duration) -> DispatchTime {
        let (seconds, attoseconds) = duration.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        guard !overflow else { return seconds < 0 ? time : .distantFuture }
        let nanoseconds = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !nanoseconds.overflow else { return .distantFuture }
        // Half of the range: Dispatch counts in UInt64 from boot and must not wrap.
        guard nanoseconds.partialValue < Int64.max / 2 else { return .distantFuture }
        return time + DispatchTimeInterval.nanoseconds(Int(max(0, nanoseconds.partialValue)))
    }
}
