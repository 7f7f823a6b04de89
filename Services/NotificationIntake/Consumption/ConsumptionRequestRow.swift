import Messages

/// A pending consumption request, as a copy of the service has taken it.
struct ConsumptionRequestRow: Sendable, Equatable {
    /// The app of the signed bundle id.
    let app: AppID
    /// Production or Sandbox.
    let environment: StoreEnvironment
    /// The notification, 16 bytes.
    let uuid: [UInt8]
    /// The bundle id, which the app's token to Apple names.
    let bundleID: String
    /// The purchase.
    let transactionID: TransactionID
    /// Whether it was sold by Advanced Commerce, of which Apple is told in the older form.
    let isAdvancedCommerce: Bool
    /// When Apple asked (ms since 1970).
    let signedDate: Int64
    /// Until when Apple waits.
    let deadline: Int64
    /// From the notification's arrival to the last line.
    let correlationID: String
    /// What it waited for.
    let reason: String
    /// How often it was taken: who took it later has the greater number, and the word of who took it before counts no
    /// more.
    let claims: Int64
    /// Failures in a row.
    let failures: Int64
}
