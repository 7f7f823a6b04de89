import HTTPServer
import Service

/// How much one client may do, and who is behind a proxy: settings.
struct LimitSettings: Sendable, Equatable {
    /// Proxies whose `X-Forwarded-For` is believed.
    var trustedProxies: AddressList
    /// Addresses that no address limit counts for.
    var unlimitedAddresses: AddressList
    /// Requests a second of one address, and as many new connections; 0 = no limit.
    var addressRate: Int
    /// Requests of one address at once after a pause.
    var addressBurst: Int
    /// Notifications a second of one address; 0 = no limit.
    var notificationRate: Int
    /// Notifications of one address at once after a pause.
    var notificationBurst: Int
    /// Requests a second of one user; 0 = no limit.
    var userRate: Int
    /// Requests of one user at once after a pause.
    var userBurst: Int

    /// A purchase is three or four calls, so this is some 25 purchases a second from one address: more than a carrier's
    /// shared address sends, and a tenth of what two cores can do.
    static let usualAddressRate = 100
    /// Three seconds of it: a room full of people who open the app together.
    static let usualAddressBurst = 300
    /// Apple sends from few addresses, and a large app's renewals come in waves: half of what a deployment on two cores
    /// takes. What is refused comes again in an hour.
    static let usualNotificationRate = 500
    /// Ten seconds of it.
    static let usualNotificationBurst = 5_000
    /// A person taps a few times a minute; a client that catches up does not wait between calls.
    static let usualUserRate = 20
    /// A client sends all its unfinished transactions at its start, one after the other: some dozens at the very most.
    static let usualUserBurst = 60

    /// Reads them.
    init(_ reader: inout SettingsReader) {
        let rates = 0...100_000
        let bursts = 1...100_000
        trustedProxies = Self.addresses(
            "TRUSTED_PROXIES", &reader, meaning: "addresses and networks of proxies whose X-Forwarded-For is believed")
        unlimitedAddresses = Self.addresses(
            "UNLIMITED_ADDRESSES", &reader,
            meaning: "addresses and networks of your own servers, which no address "
                + "limit counts for")
        addressRate = reader.integer(
            "ADDRESS_RATE", default: Self.usualAddressRate, in: rates,
            meaning: "requests a second of one address; 0 = no limit")
        addressBurst = reader.integer(
            "ADDRESS_BURST", default: Self.usualAddressBurst, in: bursts,
            meaning: "requests of one address at once after a pause")
        notificationRate = reader.integer(
            "NOTIFICATION_RATE", default: Self.usualNotificationRate, in: rates,
            meaning: "notifications a second of one address; 0 = no limit")
        notificationBurst = reader.integer(
            "NOTIFICATION_BURST", default: Self.usualNotificationBurst, in: bursts,
            meaning: "notifications of one address at once after a pause")
        userRate = reader.integer(
            "USER_RATE", default: Self.usualUserRate, in: rates, meaning: "requests a second of one user; 0 = no limit")
        userBurst = reader.integer(
            "USER_BURST", default: Self.usualUserBurst, in: bursts,
            meaning: "requests of one user at once after a pause")
    }

    private static func addresses(
        _ name: String, _ reader: inout SettingsReader, meaning: String
    ) -> AddressList {
        do throws(AddressList.Unreadable) {
            return try AddressList(reader.optionalText(name, meaning: meaning) ?? "")
        } catch {
            reader.problem(name, "has an entry that is no address and no network: \(error.entry)")
            return AddressList()
        }
    }
}
