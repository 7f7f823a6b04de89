/// All targets by name.
enum FuzzTargets {
    /// Makes each target; a throwing one cannot be set up on this machine.
    static func make(_ name: String, _ files: FuzzFiles, isReplay: Bool = false) throws -> (any FuzzTarget)? {
        switch name {
        case "json": JSONTarget(files)
        case "base64": Base64Target(files)
        case "jws": try SignedDataTarget(files, isReplay: isReplay)
        case "certificate": try CertificateTarget(files)
        case "receipt": try ReceiptTarget(files)
        case "revocation": try RevocationTarget(files)
        case "verify-receipt": try ReceiptAnswerTarget(files)
        case "token": try TokenTarget(files)
        case "http": RequestHeadTarget(files)
        case "socket": try SocketTarget(files)
        case "frame": FrameTarget(files)
        case "game": GameMessageTarget(files)
        case "message": MessageTarget(files)
        case "catalogue": CatalogueTarget(files)
        case "sheet": SheetTarget()
        case "yaml": YAMLTarget(files)
        case "sales": SalesReportTarget(files)
        default: nil
        }
    }

    /// In the order they are run.
    static let names = [
        "json", "base64", "jws", "certificate", "revocation", "receipt", "verify-receipt", "token", "http", "socket",
        "frame", "game", "message", "catalogue", "sheet", "yaml", "sales",
    ]
}
