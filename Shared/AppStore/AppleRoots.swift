public import Crypto

/// The three roots Apple signs App Store data under, part of the program and checked against pinned hashes.
///
/// Source: https://www.apple.com/certificateauthority/. Leaves and intermediates rotate and are never pinned.
public enum AppleRoots {
    /// SHA-256 of the DER bytes. A root that was swapped in the build is refused at start.
    static let pinned: [(name: String, der: [UInt8], sha256: String)] = [
        (
            "Apple Root CA - G3", PackageResources.AppleRootCA_G3_cer,
            "63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179"
        ),
        (
            "Apple Root CA - G2", PackageResources.AppleRootCA_G2_cer,
            "c2b9b042dd57830e7d117dac55ac8ae19407d38e41d88f3215bc3a890444a050"
        ),
        (
            "Apple Root CA", PackageResources.AppleIncRootCertificate_cer,
            "b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024"
        ),
    ]

    /// The roots; fails only if the program was built with others.
    public static func certificates() throws(CryptoError) -> [Certificate] {
        var certificates: [Certificate] = []
        for (name, der, sha256) in pinned {
            let certificate = try Certificate(der: der)
            guard Hex.encode(certificate.fingerprint) == sha256 else {
                throw .invalidCertificate(reason: "the built-in \(name) is not the pinned one")
            }
            certificates.append(certificate)
        }
        return certificates
    }
}
