/// How much JSON is accepted. Limits are checked while reading, before memory is spent on what exceeds them.
public struct JSONLimits: Sendable, Equatable {
    /// The longest text in bytes.
    public var maximumBytes: Int
    /// The deepest nesting of arrays and objects; the outermost one has depth 1.
    public var maximumDepth: Int
    /// The largest number of members of one object.
    public var maximumKeys: Int
    /// The largest number of values (elements, members and containers) of the whole text.
    public var maximumValues: Int

    /// What everything from outside is read with.
    ///
    /// 2 MiB holds the largest body accepted anywhere (a 1 MiB receipt, base64); 32 levels and 512 keys are several
    /// times what Apple sends (5 levels, 30 keys); 65,536 values bound the memory of a hostile body.
    public static let `default` = JSONLimits()

    /// Limits; every argument left out has its default.
    public init(
        maximumBytes: Int = 2 << 20, maximumDepth: Int = 32, maximumKeys: Int = 512, maximumValues: Int = 65_536
    ) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
        self.maximumKeys = maximumKeys
        self.maximumValues = maximumValues
    }
}
