public import Service

/// What a service does about certificates that Apple may have revoked: its setting `REVOCATION`.
public enum RevocationPolicy: String, Sendable, CaseIterable {
    /// What is signed counts while nobody has answered yet; what is known to be revoked does not.
    case background
    /// Nothing counts before Apple's responders have said that the certificates are good, nor after their answer ended.
    case required
    /// Nobody asks, and no answer is looked at.
    case off

    /// Reads the setting.
    public init(_ reader: inout SettingsReader) {
        self = reader.choice(
            "REVOCATION", default: .background,
            meaning:
                "what revoked certificates mean: background (accept until it is known), required (wait until it is "
                + "known), or off; the same in every service")
    }
}
