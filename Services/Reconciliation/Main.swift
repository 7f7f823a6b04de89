import Glibc
import Service

@main
enum ReconciliationMain {
    static func main() { exit(ServiceMain.run(ReconciliationProgram.self)) }
}
