import Crypto
import FoundationEssentials
import Messages
import Pipeline
import Postgres

/// `granting.catalog_versions`, `.product_versions`, `.product_amounts`, `.assets`.
enum CatalogTables {
    /// What a catalogue in force is recognised by: a version number alone could come back after a rollback.
    struct Stamp: Equatable, Sendable {
        /// The version.
        var version: Int64
        /// The message that imported it.
        var cause: MessageID
        /// When (ms since 1970).
        var importedAt: Int64
    }

    /// The advisory lock between imports (exclusive) and decisions (shared): "GRANTCAT" in ASCII. It is taken before any
    /// row is locked, so a decision sees the catalogue before or after an import, never half of it, and an import sees
    /// every purchase that was held under the catalogue before it.
    private static let lockKey: Int64 = 0x4752_414E_5443_4154

    /// Keeps imports out until the transaction ends.
    static let lockShared = Statement("SELECT pg_advisory_xact_lock_shared($1)", [.int8(lockKey)])
    /// Keeps decisions and imports out as long as the session lives.
    static let lockSession = Statement("SELECT pg_advisory_lock($1)", [.int8(lockKey)])
    /// Keeps decisions and other imports out until the transaction ends.
    static let lockExclusive = Statement("SELECT pg_advisory_xact_lock($1)", [.int8(lockKey)])

    /// The stamps of the catalogues in force; apps without one are absent.
    static func stamps(_ apps: [AppID]) -> Statement {
        Statement(
            """
            SELECT a.app, v.version, v.cause, v.imported_at FROM unnest($1::text[]) AS a (app)
            CROSS JOIN LATERAL (SELECT v.version, v.cause, v.imported_at FROM granting.catalog_versions v
                WHERE v.app = a.app ORDER BY v.version DESC LIMIT 1) AS v
            """, [.texts(apps)])
    }

    /// A stamp's row.
    static func stamp(_ row: Row) throws -> (AppID, Stamp) {
        (
            AppID(try row.text("app")),
            Stamp(
                version: try row.int8("version"), cause: try row.id("cause"),
                importedAt: try row.timestampMilliseconds("imported_at"))
        )
    }

    /// The definition of a version.
    static func definition(of app: AppID, version: Int64) -> Statement {
        Statement(
            "SELECT definition FROM granting.catalog_versions WHERE app = $1 AND version = $2",
            [.text(app.rawValue), .int8(version)])
    }

    /// Every version of every product of an app, oldest first.
    static func history(of app: AppID) -> Statement {
        Statement(
            """
            SELECT p.product_id, p.version, p.effective_from, p.code, p.product_type, p.is_enabled, p.sort, p.entitlement,
                p.entitlement_days, p.starter, p.remark, p.reward_id, a.assets, a.amounts
            FROM granting.product_versions p
            CROSS JOIN LATERAL (SELECT array_agg(a.asset::text ORDER BY a.asset) AS assets,
                    array_agg(a.amount ORDER BY a.asset) AS amounts
                FROM granting.product_amounts a
                WHERE a.app = p.app AND a.product_id = p.product_id AND a.version = p.version) AS a
            WHERE p.app = $1 ORDER BY p.product_id, p.version
            """, [.text(app.rawValue)])
    }

    /// Reads a catalogue.
    static func read(_ app: AppID, version: Int64, in tables: inout some BookTables & ~Copyable) throws -> Catalog {
        let found = try tables.run([.definition(app, version: version), .history(app)])
        var history: [ProductID: [ProductVersion]] = [:]
        for version in found.history { history[version.product.productID, default: []].append(version) }
        return Catalog(version: version, definition: found.definition, history: history)
    }

    /// A definition from its JSON.
    ///
    /// One that this version cannot read was stored by a newer one: then the service is not ready and waits, instead of
    /// parking every purchase.
    static func decode(_ json: String) throws -> CatalogDefinition {
        do { return try JSONDecoder().decode(CatalogDefinition.self, from: Data(json.utf8)) } catch {
            throw PostgresError.unreadableColumn(name: "definition", problem: "is of a newer version than this program")
        }
    }

    /// A product version's row.
    static func productVersion(_ row: Row) throws -> ProductVersion {
        let assets = try row.isNull("assets") ? [] : try row.textArray("assets")
        let amounts = try row.isNull("amounts") ? [] : try row.int8Array("amounts")
        let parts = zip(assets, amounts).map { AssetAmount(asset: AssetID($0 ?? ""), amount: $1 ?? 0) }
        var product = CatalogProduct(
            code: try row.text("code"), productID: ProductID(try row.text("product_id")),
            productType: try row.text("product_type"), amounts: parts, entitlement: try row.optionalText("entitlement"),
            entitlementDays: try row.optionalInt8("entitlement_days"), isEnabled: try row.bool("is_enabled"),
            sort: try row.int8("sort"), remark: try row.optionalText("remark"))
        product.rewardID = try row.optionalInt8("reward_id")
        if try !row.isNull("starter") {
            let text = try row.json("starter")
            do { product.starter = try JSONDecoder().decode(StarterOffer.self, from: Data(text.utf8)) } catch {
                throw PostgresError.unreadableColumn(name: "starter", problem: "is of a newer version")
            }
        }
        return ProductVersion(
            version: try row.int8("version"), effectiveFrom: try row.timestampMilliseconds("effective_from"),
            product: product)
    }

    /// Finds what an import that was delivered before brought into force.
    static func imported(by cause: MessageID) -> Statement {
        Statement(
            "SELECT app, version, definition FROM granting.catalog_versions WHERE cause = ANY($1::uuid[])",
            [.uuids([cause])])
    }

    /// A catalogue on its way into force.
    struct Entry {
        /// What changes.
        var change: CatalogImport.Change
        /// For which app, and who asked.
        var app: AppID
        var actor: String
        /// The message.
        var cause: MessageID
        /// When it came into force where that was earlier (ms since 1970); nil: now.
        var importedAt: Int64?
        /// The definition as JSON with sorted keys: its digest must not depend on chance.
        var text: [UInt8]

        /// The entry that `request` asks for.
        init(_ change: CatalogImport.Change, of request: CatalogImportRequested, cause: MessageID) throws {
            try self.init(change, app: request.app, actor: request.actor, cause: cause)
        }

        /// The same, by whoever it was.
        init(_ change: CatalogImport.Change, app: AppID, actor: String, cause: MessageID) throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            text = [UInt8](try encoder.encode(change.definition))
            (self.change, self.app, self.actor, self.cause) = (change, app, actor, cause)
        }
    }

    /// Stores the definition and its digest.
    static func insert(_ entry: Entry) -> Statement {
        Statement(
            """
            INSERT INTO granting.catalog_versions (app, version, actor, cause, definition, digest, imported_at)
            VALUES ($1, $2, $3, ($4::uuid[])[1], $5::text::json, $6,
                coalesce(to_timestamp($7::bigint / 1000.0), clock_timestamp()))
            """,
            [
                .text(entry.app.rawValue), .int8(entry.change.version), .text(entry.actor), .uuids([entry.cause]),
                .text(String(decoding: entry.text, as: UTF8.self)), .bytes(SHA256.hash(entry.text)),
                .int8(entry.importedAt),
            ])
    }

    /// Stores what products are from this version on.
    static func insertProducts(_ entry: Entry) -> Statement {
        let products = entry.change.products
        return Statement(
            """
            INSERT INTO granting.product_versions (app, product_id, version, effective_from, code, product_type,
                is_enabled, sort, entitlement, entitlement_days, remark, starter, reward_id)
            SELECT v.app, n.product_id, v.version, v.imported_at, n.code, n.product_type, n.is_enabled, n.sort,
                n.entitlement, n.entitlement_days, n.remark, n.starter::json, n.reward_id
            FROM granting.catalog_versions v, unnest($3::text[], $4::text[], $5::text[], $6::boolean[], $7::bigint[],
                $8::text[], $9::bigint[], $10::text[], $11::text[], $12::bigint[]) AS n (product_id, code, product_type,
                is_enabled, sort, entitlement, entitlement_days, remark, starter, reward_id)
            WHERE v.app = $1 AND v.version = $2
            """,
            [
                .text(entry.app.rawValue), .int8(entry.change.version), .texts(products.map(\.productID)),
                .textArray(products.map(\.code)),
                .textArray(products.map(\.productType)), .boolArray(products.map(\.isEnabled)),
                .int8Array(products.map(\.sort)), .textArray(products.map(\.entitlement)),
                .int8Array(products.map(\.entitlementDays)), .textArray(products.map(\.remark)),
                .textArray(products.map { $0.starter.flatMap(text(of:)) }), .int8Array(products.map(\.rewardID)),
            ])
    }

    private static func text(of starter: StarterOffer) -> String? {
        (try? JSONEncoder().encode(starter)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Stores what they grant.
    static func insertAmounts(_ entry: Entry) -> Statement {
        let parts = entry.change.products.flatMap { product in product.amounts.map { (product.productID, $0) } }
        return Statement(
            """
            INSERT INTO granting.product_amounts (app, version, product_id, asset, amount)
            SELECT $1, $2, n.product_id, n.asset, n.amount
            FROM unnest($3::text[], $4::text[], $5::bigint[]) AS n (product_id, asset, amount)
            """,
            [
                .text(entry.app.rawValue), .int8(entry.change.version), .texts(parts.map(\.0)),
                .texts(parts.map(\.1.asset)),
                .int8Array(parts.map(\.1.amount)),
            ])
    }

    /// Saves assets.
    static func saveAssets(_ entry: Entry) -> Statement {
        let assets = entry.change.definition.assets
        return Statement(
            """
            INSERT INTO granting.assets (app, asset, json_name, insufficient_code)
            SELECT $1, n.asset, n.json_name, n.code FROM unnest($2::text[], $3::text[], $4::text[])
                AS n (asset, json_name, code)
            ON CONFLICT (app, asset)
                DO UPDATE SET json_name = EXCLUDED.json_name, insufficient_code = EXCLUDED.insufficient_code
            """,
            [
                .text(entry.app.rawValue), .texts(assets.map(\.asset)), .textArray(assets.map(\.jsonName)),
                .textArray(assets.map(\.insufficientCode.rawValue)),
            ])
    }
}
