public import Pipeline

/// A lane as a part of a service. It ends by the service's stop signal.
public struct LanePart: ServicePart {
    /// The queue.
    public let name: String
    private let lane: Lane

    /// Wraps a running lane.
    public init(_ lane: Lane, name: String) {
        self.lane = lane
        self.name = name
    }

    /// Whether the lane works.
    public var isReady: Bool { lane.isReady }

    /// Waits for the lane to finish its batch.
    public func shutDown(within limit: Duration) -> Bool { lane.join(for: limit) }
}
