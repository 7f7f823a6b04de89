import Messages
package import YAML

/// Reads one app's file. Everything is read even after a mistake, so that one run shows them all.
package struct AppFile {
    /// What a file says, and where it says what no other app may say too. The rest is known even when the app is not.
    package struct Parsed {
        /// The app, if nothing it needs is missing.
        package let app: AppConfiguration?
        let hosts: [YAMLMapping.Text]
        let pathPrefix: String
        let bundleIDs: [YAMLMapping.Text]
        let audiences: [YAMLMapping.Text]
    }

    private let root: YAMLMapping
    private let problems: YAMLProblems
    private let folder: String
    private let fileID: String
    private let productFiles: ProductFiles?

    /// - Parameter path: the file's path; key files are relative to its folder, its name must be the app's id.
    /// - Parameter productFiles: read instead of the products that an app's file has or names, by the app's id.
    package static func parse(
        _ bytes: [UInt8], path: String, problems: YAMLProblems, productFiles: [String: ProductFiles] = [:]
    ) -> Parsed? {
        guard let node = YAMLReader.parse(bytes, file: path, problems: problems),
            let root = YAMLMapping(node, problems)
        else { return nil }
        let slash = path.lastIndex(of: "/")
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        let id = name.hasSuffix(".yaml") ? String(name.dropLast(5)) : String(name)
        let file = AppFile(
            root: root, problems: problems, folder: slash.map { String(path[...$0]) } ?? "", fileID: id,
            productFiles: productFiles[id])
        return file.parsed()
    }

    private func parsed() -> Parsed {
        let id = text(root, "id", .appID)
        if let id, id.text != fileID { problems.add("id must be the file's name, \(fileID)", at: id.position) }
        let surface = root.choice("surface", AppConfiguration.Surface.allCases.map { ($0.rawValue, $0) })
        let hosts = root.texts("hosts", NameRule.host.text, NameRule.host.isValid)
        if hosts.count > 1, let star = hosts.first(where: { $0.text == "*" }) {
            problems.add("hosts: \"*\" stands alone", at: star.position)
        }
        let prefix = root.optionalText("pathPrefix", NameRule.pathPrefix.text, NameRule.pathPrefix.isValid)
        let bundleIDs = root.texts("bundleIds", NameRule.bundleID.text, NameRule.bundleID.isValid)
        let appleID = root.int64("appAppleId", in: 1...Int64.max)
        let environments = environments()
        let timeZone = root.optionalText("timeZone", NameRule.timeZone.text, NameRule.timeZone.isValid)
        let login = root.mapping("loginTokens").map(tokens)
        let service = root.optionalMapping("serviceTokens").map(tokens)
        let appStoreConnect = root.optionalMapping("appStoreConnect").flatMap(self.appStoreConnect)
        let receiptSecret = root.optionalMapping("verifyReceipt").flatMap(self.receiptSecret)
        let identities = root.optionalMapping("identities").map {
            KeysSection(problems: problems, folder: folder).readSecrets($0)
        }
        let section = CatalogSection(root: root, problems: problems, folder: folder, productFiles: productFiles)
        let (catalog, files) = section.read()
        check(catalog, surface, hasIdentities: identities != nil)
        root.finish()
        var app: AppConfiguration?
        if let id, let surface, let appleID, let login = login?.settings {
            app = AppConfiguration(
                id: AppID(id.text), surface: surface, hosts: hosts.map(\.text).filter { $0 != "*" },
                pathPrefix: prefix?.text ?? "", bundleIDs: bundleIDs.map(\.text), appAppleID: appleID,
                environments: environments, loginTokens: login, serviceTokens: service?.settings,
                appStoreConnect: appStoreConnect, receiptSecret: receiptSecret, identityKeys: identities ?? [],
                catalog: catalog)
            app?.productFiles = files
            app?.timeZone = timeZone?.text
        }
        return Parsed(
            app: app, hosts: hosts, pathPrefix: prefix?.text ?? "", bundleIDs: bundleIDs,
            audiences: [login, service].compactMap { $0?.audience })
    }

    /// What a surface can show of a catalogue, and what the catalogue needs besides.
    private func check(_ catalog: Catalog, _ surface: AppConfiguration.Surface?, hasIdentities: Bool) {
        let count = catalog.definition.assets.count
        // One number is all that its answers have room for.
        if surface == .points, count != 1 {
            problems.add("surface points has one asset, here are \(count)", at: root.position(of: "assets"))
        }
        if !hasIdentities, catalog.definition.products.contains(where: { $0.starter != nil }) {
            problems.add("starter products need the section identities", at: root.position(of: "products"))
        }
    }

    private func environments() -> Set<StoreEnvironment> {
        let names = StoreEnvironment.allCases.map(\.rawValue)
        let listed = root.texts("environments", "one of: \(names.joined(separator: ", "))") { names.contains($0) }
        return Set(listed.compactMap { StoreEnvironment(rawValue: $0.text) })
    }

    private func tokens(_ section: YAMLMapping) -> (settings: TokenSettings?, audience: YAMLMapping.Text?) {
        let issuer = text(section, "issuer", .tokenName)
        let audience = text(section, "audience", .tokenName)
        let keys = KeysSection(problems: problems, folder: folder).read(section)
        section.finish()
        guard let issuer, let audience, let keys else { return (nil, audience) }
        return (
            TokenSettings(issuer: issuer.text, audience: audience.text, keys: keys.keys, keySets: keys.sets), audience
        )
    }

    private func appStoreConnect(_ section: YAMLMapping) -> AppStoreConnectKey? {
        let issuer = text(section, "issuerId", .issuerID)
        let keyID = text(section, "keyId", .keyID)
        let file = text(section, "privateKeyFile", .path)
        section.finish()
        guard let issuer, let keyID, let file else { return nil }
        return AppStoreConnectKey(
            issuerID: issuer.text, keyID: keyID.text,
            file: file.text.hasPrefix("/") ? file.text : folder + file.text,
            place: TokenSettings.Key.Place(
                file: file.position.file, line: file.position.line, column: file.position.column))
    }

    private func receiptSecret(_ section: YAMLMapping) -> ReceiptSecret? {
        let file = text(section, "sharedSecretFile", .path)
        section.finish()
        guard let file else { return nil }
        return ReceiptSecret(
            file: file.text.hasPrefix("/") ? file.text : folder + file.text,
            place: TokenSettings.Key.Place(
                file: file.position.file, line: file.position.line, column: file.position.column))
    }

    private func text(_ section: YAMLMapping, _ key: String, _ rule: NameRule) -> YAMLMapping.Text? {
        section.text(key, rule.text, rule.isValid)
    }
}
